#pragma once

#include <string_view>
#include <vector>

#include "control/finding.h"

namespace tacho {

// Faults of a version that no probe can see: the rules known.FINDING in
// rules/engine_versions.rules. `name`: "vllm", "sglang", "torch". The findings have subjects like
// "vllm 0.7.2". Empty if the version is unknown ("").
std::vector<Finding> CheckVersion(std::string_view name, std::string_view version);

}  // namespace tacho
