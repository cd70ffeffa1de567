#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// tacho view: the traces in the browser.
Result<int> RunView(const std::vector<std::string>& arguments);
std::vector<CommandSpec> ViewSpecs();

}  // namespace tacho
