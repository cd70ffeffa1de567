#pragma once

#include "analysis/analyze.h"

namespace tacho {

// Leaves out of `run` each trace of a rank that is a copy of an earlier one, and names it in
// `run.skipped`: as a rank of its own its work would count twice, and it would seem to be slower or
// faster than the others. A trace is a copy if it has the same rank, devices and times
// (IsSameTrace), whatever its path is, unless the paths name two workers of a recording. Cost: a
// comparison for each pair of traces with one rank.
void LeaveOutCopies(RunAnalysis& run);

}  // namespace tacho
