#pragma once

#include "analysis/analyze.h"

namespace tacho {

// Leaves out of `run` each trace of a rank that is a copy or a part of another one, and names it in
// `run.copies` and `run.skipped`: as a rank of its own its work would count twice, and it would
// seem to be slower or faster than the others. Same rank, processes, devices and times make a copy
// (IsSameTrace), whatever the paths are, unless these name two workers of a recording. A file that
// ends early is a copy of a whole one with its trace id. Cost: a comparison for each pair of traces
// with one rank.
void LeaveOutCopies(RunAnalysis& run);

}  // namespace tacho
