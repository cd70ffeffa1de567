#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"

namespace tacho {

// What the time of a run was lost to, dearest first: all that makes the verdict. Work that has to
// be done, such as kernels and the prompts of a request, is no finding. Nor is time in which no
// request was in flight.
//
// Ordered by share of the whole, because wholes are not of one kind: eight ranks have eight seconds
// of device time in a second, forty requests in flight forty seconds. So findings of one whole
// stand by cost. Then by cost, then id; what cannot be told is last.
//
// Exposed communication of ranks whose waits are charged (RankBlame) is kWait + kSkew + kTransfer,
// exactly. Communication kernels that overlap others are longer than the exposed time, and their
// waits may lie in either part. Then the waits are a lower bound together, what each rank caused is
// about right, and the transfer is an upper bound (WaitsSplit).
//
// The order of the traces changes nothing but the places. Cost: that of TotalsOf(run).
std::vector<RunFinding> FindingsOf(const RunAnalysis& run);
// Of one trace, as a run of its own with these requests; its places name trace 0.
std::vector<RunFinding> FindingsOf(const TraceAnalysis& trace,
                                   const RequestAnalysis& requests = {});

}  // namespace tacho
