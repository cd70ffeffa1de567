#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/ranks.h"
#include "model/clocks.h"

namespace tacho {

// The clock of a run: 0 is the first event of its first trace that has one.

// Traces that lie this far apart do not share a clock.
inline constexpr DurationNs kFarApart{600 * kNsPerSecond};

// Relates the clock of `trace` to the run's clock, by the Unix times of `trace` and `first`.
// `number`: that of `trace` in `clocks`. `first`: the run's first trace that has events; may be
// `trace` itself. Returns false and relates nothing if one of the two has no Unix time, or if they
// lie kFarApart or more apart.
//
// The error of the relation is unknown, because the clocks of the ranks' hosts differ.
// MatchedCollectives measures it.
bool PlaceOnRunClock(const RankInput& first, const RankInput& trace, uint32_t number,
                     ClockMap& clocks);

// The clocks of a run's traces, by index into `traces`, and of the run. A trace without events, or
// that cannot be placed, has no relation.
ClockMap ClocksOf(const std::vector<RankInput>& traces);

}  // namespace tacho
