#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// `tacho load`: drives a workload and reports what a user of the engine sees.
Result<int> RunLoad(const std::vector<std::string>& arguments);

}  // namespace tacho
