#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/reading.h"
#include "report/drawings.h"

namespace tacho {

// The arguments of `tacho report`.
struct ReportOptions : ReadingArguments {
  ReportOptions() { command = "report"; }
  bool markdown = false, json = false, redact = false;
  std::optional<std::string> output;  // "-": standard output
};
// The page of a run. `run_json`: of the recording that it is of; "" where it is of none. A redacted
// one leaves the recording's addresses and command out.
struct PageOfRun {
  std::string title, command, run_json;
  Drawings drawings;
  bool redacted = false;
};
std::string RenderPage(const RunAnalysis& run, PageOfRun page);

CommandSpec ReportSpec(ReportOptions& options);

Result<int> RunReport(const std::vector<std::string>& arguments);
std::string ReportHelp();

}  // namespace tacho
