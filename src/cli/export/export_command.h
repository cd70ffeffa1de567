#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"
#include "cli/screen/reading.h"

namespace tacho {

// The arguments of `tacho export`.
struct ExportOptions : ReadingArguments {
  ExportOptions() { command = "export"; }
  std::optional<std::string> output, format, time;
  std::optional<int64_t> step;
  bool replace = false;
};
CommandSpec ExportSpec(ExportOptions& options);

Result<int> RunExport(const std::vector<std::string>& arguments);
std::vector<CommandSpec> ExportSpecs();

}  // namespace tacho
