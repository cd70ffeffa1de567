#pragma once

#include <string>
#include <vector>

#include "cli/screen/reading.h"

namespace tacho {

// What could not be read of several runs, for FinishReading.
struct Incomplete {
  std::vector<Error> failures;
  std::vector<std::string> skipped, captures, reasons;
  std::vector<std::string> repeated = {};  // sentences: "PATH is the same run as PATH, ..."
};

// Reads one run for each of `paths`, one after another, by `reading` and by `arguments` except its
// paths. A run that was read before, or that has work in common with one that was, is left out and
// its path removed: otherwise it would count as a run of its own.
Result<std::vector<RunAnalysis>> ReadRuns(ReadingArguments arguments,
                                          std::vector<std::string>& paths,
                                          const ReadOptions& reading, const Classifier& classifier,
                                          Incomplete& incomplete);

}  // namespace tacho
