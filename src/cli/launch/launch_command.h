#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// `tacho launch`: starts engines, lists and stops them.
Result<int> RunLaunch(const std::vector<std::string>& arguments);
std::vector<CommandSpec> LaunchSpecs();

}  // namespace tacho
