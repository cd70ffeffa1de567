#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

Result<int> RunExplain(const std::vector<std::string>& arguments);
std::vector<CommandSpec> ExplainSpecs();

}  // namespace tacho
