#pragma once

#include <string>

#include "cli/record/record_report.h"

namespace tacho {

// Folders as the user would type them.
struct EndingFolders {
  std::string run;
  std::string earlier = {};  // an earlier run to compare with `run`; "": none
};

// The ending of a recording, at most kMostEndingLines lines: the verdict, the proof, the cost of
// profiling, the latency that users saw with and without profiling, what is missing (how many
// things, and the name of the first), the folder and the next commands.
inline constexpr size_t kMostEndingLines = 12;
std::string EndingText(const Recording& recording, const ProvenRecording& proven,
                       const EndingFolders& folders, const TextStyle& style);

// The part above the ending: everything that is missing, and all problems and remarks that the
// ending leaves out.
std::string DetailsText(const Recording& recording, const ProvenRecording& proven,
                        const TextStyle& style);
// The URLs of the workers that the tables call w0, w1, ...; "" if there is only one.
std::string WorkersText(const Recording& recording, const TextStyle& style);

// "4 of 4 ranks proven, 1 incomplete". Incomplete: the profiler of the rank lost rows or times.
std::string ProvenText(int64_t proven, int64_t ranks, int64_t incomplete);
// "2330 tok/s unprofiled, 2415 profiled: no change beyond 10 % noise". `share` and `error`:
// see Recording::Cost.
std::string CostText(double unprofiled, double profiled, double share, double error);

}  // namespace tacho
