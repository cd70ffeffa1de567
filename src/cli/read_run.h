#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "base/result.h"
#include "cli/in_flight_of.h"
#include "cli/progress.h"
#include "cli/window_argument.h"
#include "report/summary_report.h"

namespace tacho {

struct ReadOptions {
  std::vector<std::string> paths;
  size_t threads = 0;                // 0: one for each core
  std::optional<int64_t> rank = {};  // only the traces of this rank
  std::optional<WindowArgument> window = {};
  std::string device = {};
  bool key_averages = false;       // also what PyTorch's key_averages() shows
  bool first_worker_only = false;  // in the order of the paths
  // Of the sessions of profiling (analysis/sessions.h) the last one, "latest", or that of which a
  // file has this in its path; "": all.
  std::string session = {};
  std::optional<RunInFlight> in_flight = {};  // of the recording that the traces are of
};

// What could be read, and what could not.
template <typename Run>
struct Readout {
  Run run;
  std::vector<Error> failures;  // inputs that could not be read; in `run.skipped` too
  bool is_collection =
      false;  // a folder, an archive or several files: ranks can be missing from it
};

// Finds the traces below the paths, reads and analyses them, several at a time. Each Trace is
// dropped as soon as it is analysed; one that the memory does not hold is an input that could not
// be read. Fails when a path is missing or when nothing could be read.
Result<Readout<RunAnalysis>> ReadRun(const ReadOptions& options, const Classifier& classifier,
                                     ProgressCounter& counter);

// The same without a model: totals only, in memory that grows with their different names only.
Result<Readout<RunSummary>> ReadSummaries(const ReadOptions& options, ProgressCounter& counter);

}  // namespace tacho
