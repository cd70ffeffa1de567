#pragma once

#include <cstdint>
#include <vector>

#include "analysis/ranks/comm_candidates.h"
#include "analysis/ranks/matched_collectives.h"
#include "analysis/requests/step_cells.h"

namespace tacho {

// When rank `rank` waited for others in matched collectives, on the clock of its trace: one
// interval for each of its kernels that waited, in the order of the collectives. The shortest
// kernel of a collective gives the time of the transfer (skew_charges.h). A longer kernel begins
// with waiting; this lasts as long as the kernel exceeds the shortest one. Cost: O(parts).
std::vector<Interval> WaitsOf(uint32_t rank, const MatchedCollectives& matched,
                              const std::vector<CommRank>& ranks);

// By cell: a lower bound for the part of its exposed communication (StepCell::comm) that was
// waiting for other ranks. The exact time is unknown if compute hides some of the communication,
// because the hidden part may have been waiting. `communication` must come from the trace of
// `cells`. Cost: O(k log s) for k kernels and s steps.
std::vector<DurationNs> SkewOfCells(const StepCells& cells,
                                    const std::vector<CommSeries>& communication,
                                    const std::vector<Interval>& waits);

}  // namespace tacho
