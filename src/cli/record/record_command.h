#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// `tacho record TARGET...`: from a live deployment to proven, analysed traces (session/record.h).
Result<int> RunRecord(const std::vector<std::string>& arguments);
std::vector<CommandSpec> RecordSpecs();

}  // namespace tacho
