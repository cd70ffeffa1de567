#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"
#include "cli/screen/reading.h"

namespace tacho {

// The arguments of `tacho compare`.
struct CompareOptions : ReadingArguments {
  CompareOptions() { command = "compare"; }
  std::vector<std::string> base, now;  // --base and --now: more runs of each side
  std::string baseline;  // if BASE is a baseline: its name, which is shown; "": shows its path
  std::vector<std::string> fail_on;
  bool across = false, anyway = false, without_bounds = false, all = false, json = false,
       markdown = false, csv = false, wide = false;
  std::string color = "auto";
  std::optional<int64_t> top;
};
CommandSpec CompareSpec(CompareOptions& options);

// Reads both sides, and prints what changed. A path may be a baseline (run/baselines.h).
Result<int> CompareAsAsked(const CompareOptions& options);

Result<int> RunCompare(const std::vector<std::string>& arguments);
std::vector<CommandSpec> CompareSpecs();

}  // namespace tacho
