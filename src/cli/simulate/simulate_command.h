#pragma once

#include <string>
#include <vector>

#include "base/result.h"

#include "cli/options/parse.h"

namespace tacho {

// tacho simulate: engines and routers without a GPU.
Result<int> RunSimulate(const std::vector<std::string>& arguments);
std::vector<CommandSpec> SimulateSpecs();

}  // namespace tacho
