#pragma once

#include <string>
#include <vector>

namespace tacho {

// `tacho load`: drives a workload and reports what a user of the engine sees.
int RunLoad(const std::vector<std::string>& arguments);

}  // namespace tacho
