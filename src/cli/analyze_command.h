#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/parse.h"
#include "cli/trace_choice.h"
#include "report/whole_tables.h"
#include "run/read_run.h"

namespace tacho {

// The arguments of `tacho analyze`.
struct AnalyzeOptions {
  TraceArguments traces;
  bool json = false, markdown = false, summary = false;
  std::optional<std::string> csv_folder;
  std::optional<int64_t> top;
  std::string device;
  std::optional<std::string> window;
  bool kernels = false, categories = false, ops = false, launches = false, copies = false,
       gaps = false, ranks = false, steps = false, devices = false;
  std::optional<std::string> sort, filter;
  std::optional<std::string> rules_file;
  std::optional<int64_t> threads;
  std::string color = "auto";
  bool wide = false, no_progress = false;
  // The flags of vime's and slime's tools/analyze_profile.py.
  std::optional<std::string> profile_dir;
  bool all_ranks = false;

  [[nodiscard]] std::vector<WholeTable> Tables() const;
};

// The rows of the options, bound to `options`.
CommandSpec AnalyzeSpec(AnalyzeOptions& options);

// kUsage: contradictions and impossible values.
Result<void> CheckAnalyzeOptions(const AnalyzeOptions& options);

// The first 20 of them on standard error, and how many more there are.
void ComplainAll(const std::vector<std::string>& messages);

// Why the exit status is 4, as sentences; empty if the run is complete.
std::vector<std::string> IncompleteReasons(const RunAnalysis& run);
std::vector<std::string> IncompleteReasons(const RunSummary& run);

Result<int> RunAnalyze(const std::vector<std::string>& arguments);
std::string AnalyzeHelp();

}  // namespace tacho
