#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "text/table.h"

namespace tacho {

// A table that --csv writes, over all traces. Each row begins with the trace it belongs to (path,
// rank); times are whole nanoseconds.
struct CsvTable {
  std::string_view row;  // what a row is, for docs/csv.md
  // Paths of JSON objects (docs/json.md), separated by blanks. If a column states no meaning,
  // docs/csv.md takes it from the field with the column's key, in the first of these objects that
  // has such a field.
  std::string_view fields;
  Table table;
};

// Visits the tables one at a time, because all tables of a large run take gigabytes. The tables and
// their order are always the same.
void VisitCsvTables(const RunAnalysis& run, const std::function<void(const CsvTable&)>& visit);

// The tables as (file name, content).
std::vector<std::pair<std::string, std::string>> AnalyzeCsv(const RunAnalysis& run);

}  // namespace tacho
