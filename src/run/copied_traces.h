#pragma once

#include "analysis/analyze.h"

namespace tacho {

// Leaves out of `run` each trace of a rank that is a copy or a part of another one, and names it in
// `run.copies` and `run.skipped`: if the copy counted as a rank of its own, its work would count
// twice, and the copy would look slower or faster than the others. Traces with the same rank,
// processes, devices and times are copies (IsSameTrace), unless their paths name two workers of a
// recording. A truncated file is a copy of a complete one with the same trace id. Cost: a
// comparison for each pair of traces with one rank.
void LeaveOutCopies(RunAnalysis& run);

}  // namespace tacho
