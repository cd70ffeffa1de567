#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// `tacho stats`, described in docs/stats.md.
Result<int> RunStats(const std::vector<std::string>& arguments);
std::vector<CommandSpec> StatsSpecs();

}  // namespace tacho
