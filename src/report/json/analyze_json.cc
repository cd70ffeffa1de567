#include "report/json/analyze_json.h"

#include "analysis/schema/trace_fields.h"
#include "report/json/brief_json.h"
#include "report/json/requests_json.h"
#include "report/words/kernel_names.h"
#include "text/distinct_text.h"

namespace tacho {
namespace {

// The short name of each row of `kernels`, distinct among all rows.
class ShortNames {
 public:
  explicit ShortNames(const KernelTable& kernels) : kernels_(kernels) {
    std::vector<std::string_view> names;
    for (const KernelRow& row : kernels.rows) names.push_back(row.name);
    short_names_ =
        FitDistinct({names.begin(), names.end()}, ShownKernelNames(names, {}), kShortName, true);
  }
  const std::string& operator()(const KernelRow& row) const {
    return short_names_[static_cast<size_t>(&row - kernels_.rows.data())];
  }

 private:
  const KernelTable& kernels_;
  std::vector<std::string> short_names_;
};

}  // namespace

std::string AnalyzeJson(const RunAnalysis& run, std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  WriteTachoJson(json, version, schema::kVersion);
  WriteVerdictJson(json, run);
  json.Objects("traces", run.traces, [&](const TraceAnalysis& trace) {
    schema::TraceFields(json, trace, ShortNames(trace.kernels));
  });
  if (!run.together.empty()) {
    json.Objects("together", run.together,
                 [&](const SlicesTogether& slices) { schema::Together(json, slices); });
  }
  if (!run.ranks.rows.empty()) WriteRanksJson(json, run.ranks);
  if (run.requests.any()) WriteRequestsJson(json, run.requests);
  json.List("skipped", run.skipped);
  if (!run.captures.empty()) json.List("captures", run.captures);
  if (!run.failed.empty()) json.List("failed", run.failed);
  if (!run.unproven.empty()) json.List("unproven", run.unproven);
  json.End();
  return std::move(json).Finish();
}

}  // namespace tacho
