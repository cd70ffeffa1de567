#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// `tacho baseline save|list|compare|remove`: results that are kept by name, to compare with
// (run/baselines.h).
Result<int> RunBaseline(const std::vector<std::string>& arguments);
std::vector<CommandSpec> BaselineSpecs();

}  // namespace tacho
