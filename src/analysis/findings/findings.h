#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"

namespace tacho {

// Where a run lost time, largest share first; the verdict is made of these findings. Work that has
// to be done, such as kernels and the reading of prompts, is not a finding. Neither is time in
// which no request was in flight.
//
// Sorted by share of their whole, then by cost, then by id; findings of unknown cost are last.
// Costs cannot be compared if their wholes differ: in one second, eight ranks have eight seconds of
// device time, and forty requests in flight have forty seconds.
//
// If waits are charged to ranks (RankBlame), kWait + kSkew + kTransfer is exactly the exposed
// communication. If communication kernels overlap other kernels, it is unknown whether they waited
// in the exposed or in the hidden part of their time. Then the sum of the waits is a lower bound,
// what each rank caused is approximate, and the transfer is an upper bound (WaitsSplit).
//
// The order of the traces affects only the places. Cost: that of TotalsOf(run).
std::vector<RunFinding> FindingsOf(const RunAnalysis& run);
// The findings of one trace, as if it were a run that served `requests`. Their places name trace 0.
std::vector<RunFinding> FindingsOf(const TraceAnalysis& trace,
                                   const RequestAnalysis& requests = {});

}  // namespace tacho
