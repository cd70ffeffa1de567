#pragma once

#include <optional>
#include <vector>

#include "analysis/ranks/ranks.h"

namespace tacho {

// The clock of a run: 0 is the first event of its first trace that has one.

// Traces that lie this far apart do not share a clock.
inline constexpr DurationNs kFarApart{600 * kNsPerSecond};

// The time from the first event of `first` to the first event of `other`, by their Unix times;
// nullopt if one of them has none, or if they are kFarApart or more apart.
std::optional<DurationNs> StartAfter(const RankInput& first, const RankInput& other);

// For each trace, the time of its first event on the run's clock; 0 for one without events, nullopt
// for one that cannot be placed.
std::vector<std::optional<DurationNs>> StartsOnRunClock(const std::vector<RankInput>& inputs);

}  // namespace tacho
