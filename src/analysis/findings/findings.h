#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"

namespace tacho {

// What the time of a run was lost to, largest share first. The verdict is made of these. Work that
// has to be done, such as kernels and the prompts of a request, is no finding. Nor is time in which
// no request was in flight.
//
// Ordered by share of their whole, then by cost, then by id; what cannot be told is last. Costs of
// different wholes cannot be compared: in one second, eight ranks have eight seconds of device
// time, and forty requests in flight have forty seconds. Findings of one whole are in the order of
// their costs.
//
// Exposed communication of ranks whose waits are charged (RankBlame) is kWait + kSkew + kTransfer,
// exactly. If communication kernels overlap other kernels, they last longer than the exposed time,
// and their waits may lie in the exposed or in the hidden part. Then the sum of the waits is a
// lower bound, what each rank caused is about right, and the transfer is an upper bound
// (WaitsSplit).
//
// The order of the traces changes nothing but the places. Cost: that of TotalsOf(run).
std::vector<RunFinding> FindingsOf(const RunAnalysis& run);
// The findings of one trace, as if it were a run with these requests. Their places name trace 0.
std::vector<RunFinding> FindingsOf(const TraceAnalysis& trace,
                                   const RequestAnalysis& requests = {});

}  // namespace tacho
