#pragma once

#include <string>
#include <utility>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// One CSV file per table, as (file name, content), always the same files in the same order. Each
// row begins with the trace it belongs to (path, rank); times are whole nanoseconds.
std::vector<std::pair<std::string, std::string>> AnalyzeCsv(const RunAnalysis& run);

}  // namespace tacho
