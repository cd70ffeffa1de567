#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/comm_candidates.h"
#include "analysis/ranks/matched_collectives.h"
#include "analysis/requests/step_cells.h"

namespace tacho {

// When a rank waited for others in matched collectives, on the clock of its trace. A collective's
// shortest part is its transfer (skew_charges.h). The time by which another part is longer is
// waiting, at the beginning of that part. One interval for each part that waits, in the order of
// the collectives. Cost: O(parts).
std::vector<Interval> WaitsOf(uint32_t rank, const MatchedCollectives& matched,
                              const std::vector<CommRank>& ranks);

// How much of the exposed communication of each cell was waiting for other ranks, at least: where
// compute hides a part of the communication, it may have hidden the waits. `communication`: that of
// the trace of `cells`. At most StepCell::comm. Cost: O(k log s) for k kernels and s steps.
std::vector<DurationNs> SkewOfCells(const StepCells& cells,
                                    const std::vector<CommSeries>& communication,
                                    const std::vector<Interval>& waits);

}  // namespace tacho
