#pragma once

#include <string_view>
#include <vector>

#include "control/finding.h"

namespace tacho {

// Faults that a version has and no probe can see: the rules known.FINDING of
// rules/engine_versions.rules. `name`: "vllm", "sglang", "torch". The subjects of the findings look
// like "vllm 0.7.2". Empty for an unknown version ("").
std::vector<Finding> CheckVersion(std::string_view name, std::string_view version);

}  // namespace tacho
