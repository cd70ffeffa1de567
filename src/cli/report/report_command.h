#pragma once

#include <string>
#include <vector>

#include "analysis/compare/run_changes.h"
#include "base/result.h"
#include "cli/options/parse.h"
#include "cli/screen/reading.h"
#include "report/html/drawings.h"

namespace tacho {

// The arguments of `tacho report`.
struct ReportOptions : ReadingArguments {
  ReportOptions() { command = "report"; }
  bool markdown = false, json = false, redact = false;
  std::optional<std::string> output;  // "-": standard output
  std::vector<std::string> against;   // runs to compare it with
};
// The contents of a run's page besides its analysis. `run_json`: run.json of the run's recording;
// "" if the run is not a recording. A redacted page leaves out the recording's addresses and
// command.
struct PageOfRun {
  std::string title, command, run_json;
  Drawings drawings;
  bool redacted = false;
  const RunChanges* changes = nullptr;  // from `against` to the run; nullptr: not compared
  std::string against = {};
};
std::string RenderPage(const RunAnalysis& run, PageOfRun page);

CommandSpec ReportSpec(ReportOptions& options);

Result<int> RunReport(const std::vector<std::string>& arguments);
std::vector<CommandSpec> ReportSpecs();

}  // namespace tacho
