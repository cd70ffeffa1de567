#pragma once

#include <string>
#include <vector>

#include "cli/reading.h"

namespace tacho {

// What could not be read of several runs, for FinishReading.
struct Incomplete {
  std::vector<Error> failures;
  std::vector<std::string> skipped, reasons;
};

// One run for each path, read one after another with the `reading` of `arguments`, whose own paths
// do not count.
Result<std::vector<RunAnalysis>> ReadRuns(ReadingArguments arguments,
                                          const std::vector<std::string>& paths,
                                          const ReadOptions& reading, const Classifier& classifier,
                                          Incomplete& incomplete);

}  // namespace tacho
