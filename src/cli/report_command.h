#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/reading.h"

namespace tacho {

// The arguments of `tacho report`.
struct ReportOptions : ReadingArguments {
  ReportOptions() { command = "report"; }
  bool markdown = false, json = false, redact = false;
  std::optional<std::string> output;  // "-": standard output
};
CommandSpec ReportSpec(ReportOptions& options);

Result<int> RunReport(const std::vector<std::string>& arguments);
std::string ReportHelp();

}  // namespace tacho
