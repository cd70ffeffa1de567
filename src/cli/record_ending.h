#pragma once

#include <string>

#include "cli/record_report.h"

namespace tacho {

// How a recording ends, at most kMostEndingLines lines: the verdict, the proof, the cost of
// profiling, the latency of users with and without it, what is missing (counted, the first one
// named), the folder and the next command. `folder`: of the run, as the user would type it.
inline constexpr size_t kMostEndingLines = 10;
std::string EndingText(const Recording& recording, const ProvenRecording& proven,
                       const std::string& folder, const TextStyle& style);

// Above it: all that is missing, all troubles and remarks, where the ending has not all of it, and
// the workers' URLs.
std::string DetailsText(const Recording& recording, const ProvenRecording& proven,
                        const TextStyle& style);

}  // namespace tacho
