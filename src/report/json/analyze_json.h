#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "text/json_writer.h"

namespace tacho {

// The JSON contract of `tacho analyze --json`, schema 1: docs/json.md says what each field is.
// Every time is an integer in nanoseconds; what is not known is absent. `version` is tacho's own.
std::string AnalyzeJson(const RunAnalysis& run, std::string_view version);

}  // namespace tacho
