#pragma once

#include <optional>

#include "analysis/ranks/ranks.h"

namespace tacho {

// The clock of a run: 0 is the first event of its first trace that has one.

// Traces that lie this far apart are not of one time.
inline constexpr DurationNs kFarApart{600 * kNsPerSecond};

// From the first event of `first` to that of `other`, by their Unix times; nullopt where one of
// them has none, or where they are kFarApart or more.
std::optional<DurationNs> StartAfter(const RankInput& first, const RankInput& other);

}  // namespace tacho
