#pragma once

#include <string>

#include "analysis/analyze.h"

namespace tacho {

// A run in brief, with `verdict`, as the JSON object that run.json holds (docs/json.md). Its size
// grows only with the number of ranks.
std::string BriefJson(const RunAnalysis& run);

}  // namespace tacho
