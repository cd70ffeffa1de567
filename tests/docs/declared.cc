// Prints what the code declares of its results, from which tools/docs writes the documents.
#include <cstdio>

#include "describer.h"
#include "report/json/run_fields.h"

namespace tacho {
namespace {

nlohmann::ordered_json AnalyzeSchema() {
  RunAnalysis run;
  run.traces.resize(1);
  return Describer::Describe([&](Describer& out) {
    schema::Run(out, run, "", [](const KernelTable&) {
      return [](const KernelRow& row) -> const std::string& { return row.name; };
    });
  });
}

}  // namespace
}  // namespace tacho

int main() {
  const nlohmann::ordered_json declared{{"analyze", tacho::AnalyzeSchema()}};
  std::puts(declared.dump(1).c_str());
}
