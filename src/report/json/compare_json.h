#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/gate.h"
#include "analysis/compare/run_changes.h"

namespace tacho {

// The comparison as JSON (docs/compare.md, docs/compare.schema.json). All figures are numbers;
// times are in ns.
std::string CompareJson(const RunChanges& changes, const std::vector<GateResult>& gates,
                        bool comparable, std::string_view version);

}  // namespace tacho
