// Prints what the code declares of its results, from which tools/docs writes the documents.
#include <cstdio>

#include "describer.h"
#include "report/documents/analyze_csv.h"
#include "report/json/run_fields.h"

namespace tacho {
namespace {

using nlohmann::ordered_json;

ordered_json AnalyzeSchema() {
  RunAnalysis run;
  run.traces.resize(1);
  return Describer::Describe([&](Describer& out) {
    schema::Run(out, run, "", [](const KernelTable&) {
      return [](const KernelRow& row) -> const std::string& { return row.name; };
    });
  });
}

ordered_json CsvFiles() {
  ordered_json files = ordered_json::array();
  VisitCsvTables({}, [&](const CsvTable& csv) {
    ordered_json columns = ordered_json::array();
    for (const TableColumn& column : csv.table.columns) {
      if (column.in_file) columns.push_back({{"key", column.key}, {"means", column.means}});
    }
    files.push_back({{"file", csv.table.name + ".csv"},
                     {"row", csv.row},
                     {"fields", csv.fields},
                     {"columns", std::move(columns)}});
  });
  return files;
}

}  // namespace
}  // namespace tacho

int main() {
  const nlohmann::ordered_json declared{{"analyze", tacho::AnalyzeSchema()},
                                        {"csv", tacho::CsvFiles()}};
  std::puts(declared.dump(1).c_str());
}
