#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// `tacho stats`: docs/stats.md.
Result<int> RunStats(const std::vector<std::string>& arguments);
std::string StatsHelp();

}  // namespace tacho
