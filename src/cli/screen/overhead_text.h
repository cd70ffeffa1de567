#pragma once

#include <string>

#include "session/plan/measured_overhead.h"
#include "session/run_folder/kept_recording.h"
#include "text/text_style.h"

namespace tacho {

// The cost of profiling as a table: each figure without and with the profilers, its change with
// bounds, and the verdict, which may be "inconclusive".
std::string OverheadText(const Overhead& overhead, const TextStyle& style);

// The cost in one line, for the ending: "tok/s -9.1 % (-10.3 to -7.9)"; "" without any figure.
std::string OverheadSummary(const Overhead& overhead, const TextStyle& style);

// How much longer profiling makes the steps: "profiled steps take 9.8 % longer than unprofiled
// ones, 8.7 to 10.9 %; no figure is corrected for that".
std::string StepChangeText(const KeptChange& change);

}  // namespace tacho
