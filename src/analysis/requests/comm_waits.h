#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/comm_candidates.h"
#include "analysis/ranks/matched_collectives.h"
#include "analysis/requests/step_cells.h"

namespace tacho {

// When rank `rank` waited for others in matched collectives, on the clock of its trace. A part is
// one rank's kernel of a collective. The shortest part of a collective is taken for its transfer
// (skew_charges.h), so a longer part waits at its beginning, for as long as it exceeds the shortest
// one. One interval for each part that waits, in the order of the collectives. Cost: O(parts).
std::vector<Interval> WaitsOf(uint32_t rank, const MatchedCollectives& matched,
                              const std::vector<CommRank>& ranks);

// By cell: how long, at least, its exposed communication was waiting for other ranks; never above
// StepCell::comm. It is a lower bound because compute that hides communication may have hidden the
// waits. `communication` must come from the trace of `cells`. Cost: O(k log s) for k kernels and s
// steps.
std::vector<DurationNs> SkewOfCells(const StepCells& cells,
                                    const std::vector<CommSeries>& communication,
                                    const std::vector<Interval>& waits);

}  // namespace tacho
