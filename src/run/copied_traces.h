#pragma once

#include "analysis/analyze.h"

namespace tacho {

// Removes from `run` each trace that is a copy or a part of another trace, and lists it in
// `run.copies` and `run.skipped`. Otherwise its work would count twice, and it would look like a
// slow or fast rank. Two traces are copies if they have the same rank, processes, devices and times
// (IsSameTrace), unless their paths belong to two workers of a recording. A truncated file is a
// copy if a complete file has the same trace id. Cost: one comparison for each pair of traces of
// the same rank.
void LeaveOutCopies(RunAnalysis& run);

}  // namespace tacho
