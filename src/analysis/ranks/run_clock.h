#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/ranks.h"
#include "model/clocks.h"

namespace tacho {

// The clock of a run: 0 is the first event of its first trace that has one.

// Traces that lie this far apart do not share a clock.
inline constexpr DurationNs kFarApart{600 * kNsPerSecond};

// Relates the clock of `trace`, the trace of this number, to the run's clock, by the Unix times of
// both; `first` is the run's first trace that has events, or `trace` itself. False, and no
// relation: one of them has no Unix time, or they are kFarApart or more apart.
//
// The error is unknown: that of the clocks of the ranks' hosts. MatchedCollectives measures it.
bool PlaceOnRunClock(const RankInput& first, const RankInput& trace, uint32_t number,
                     ClockMap& clocks);

// The clocks of a run's traces, by index into `traces`, and of the run. A trace without events, or
// that cannot be placed, has no relation.
ClockMap ClocksOf(const std::vector<RankInput>& traces);

}  // namespace tacho
