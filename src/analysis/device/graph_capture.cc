#include "analysis/device/graph_capture.h"

#include <algorithm>

#include "analysis/index/name_index.h"
#include "analysis/steps/step_grammar.h"
#include "base/capture_file.h"
#include "base/words.h"

namespace tacho {
namespace {

// Whether any name in `table` has the property.
template <typename Property>
bool HasName(const Trace& trace, const SliceTable& table, Property property) {
  NameIndex names(trace);
  for (size_t row = 0; row < table.size(); ++row) names[table.name[row]];
  return std::ranges::any_of(names.names(),
                             [&](StringId name) { return property(trace.Text(name)); });
}

}  // namespace

bool IsCaptureAnnotation(std::string_view name) {
  return name == "_capture_graph" || name.starts_with("_dummy_run") ||
         (name.starts_with("capture_") && name.size() > 8 && IsDigit(name[8]));
}

bool BeginsCapture(std::string_view call) {
  return call.find("StreamBeginCapture") != std::string_view::npos;
}

bool IsEngineStep(std::string_view name) {
  const auto step = ParseStep(name);
  return step && step->engine != "torch" && !step->is_part;
}

bool RecordsCapture(const Trace& trace, std::string_view path) {
  const bool captures = HasName(trace, trace.host_calls, BeginsCapture);
  const bool is_sign = IsCaptureFile(path) || (trace.gpu.size() == 0 && captures) ||
                       ((trace.gpu.size() == 0 || captures) &&
                        HasName(trace, trace.annotations, IsCaptureAnnotation));
  return is_sign && !HasName(trace, trace.annotations, IsEngineStep) &&
         !HasName(trace, trace.host_calls, [](std::string_view call) {
           return call.find("GraphLaunch") != std::string_view::npos;
         });
}

}  // namespace tacho
