#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analyze.h"
#include "text/table.h"

namespace tacho {

// A table of `--csv` over all traces. Each row begins with the trace it belongs to (path, rank);
// times are whole nanoseconds.
struct CsvTable {
  std::string_view row;  // what a row is, for docs/csv.md
  // Paths of objects of the JSON (docs/json.md), with a blank between them. A column without a
  // meaning of its own has that of the field with the same key, in the first of these objects that
  // has such a field.
  std::string_view fields;
  Table table;
};

// One table at a time, always the same ones in the same order: all rows of a large run take
// gigabytes as tables.
void VisitCsvTables(const RunAnalysis& run, const std::function<void(const CsvTable&)>& visit);

// The tables as (file name, content).
std::vector<std::pair<std::string, std::string>> AnalyzeCsv(const RunAnalysis& run);

}  // namespace tacho
