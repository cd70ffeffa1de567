#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/ranks.h"
#include "model/clocks.h"

namespace tacho {

// The clock of a run is 0 at the first event of its first trace that has events.

// Traces that lie this far apart in time do not share a clock.
inline constexpr DurationNs kFarApart{600 * kNsPerSecond};

// Adds the relation between the clock of `trace` and the run's clock to `clocks`, by the Unix times
// of `trace` and `first`. `number`: the number that names the clock of `trace` in `clocks`.
// `first`: the run's first trace that has events; may be `trace` itself. Returns false and adds
// nothing if one of the two has no Unix time, or if they lie kFarApart or more apart.
//
// The error of the relation is unknown, because the clocks of the ranks' hosts differ.
// MatchedCollectives measures it.
bool PlaceOnRunClock(const RankInput& first, const RankInput& trace, uint32_t number,
                     ClockMap& clocks);

// Relates the clock of each trace, named by its index into `traces`, to the run's clock. A trace
// without events, or for which PlaceOnRunClock fails, has no relation.
ClockMap ClocksOf(const std::vector<RankInput>& traces);

}  // namespace tacho
