#pragma once

#include <string>
#include <vector>

#include "cli/screen/reading.h"

namespace tacho {

// What is missing after several runs were read, for FinishReading.
struct Incomplete {
  std::vector<Error> failures;
  std::vector<std::string> skipped, captures, reasons;
  std::vector<std::string> repeated = {};  // sentences: "PATH is the same run as PATH, ..."
};

// Reads one run for each of `paths`, one after another, with `reading` and with `arguments` except
// its paths. A run that shares work with an earlier one must not count as another run: it is left
// out, and its path is removed from `paths`.
Result<std::vector<RunAnalysis>> ReadRuns(ReadingArguments arguments,
                                          std::vector<std::string>& paths,
                                          const ReadOptions& reading, const Classifier& classifier,
                                          Incomplete& incomplete);

}  // namespace tacho
