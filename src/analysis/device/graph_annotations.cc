#include "analysis/device/graph_annotations.h"

#include <unordered_map>

#include "analysis/index/arg_reader.h"
#include "base/json_text.h"

namespace tacho {
namespace {

// Other events also have an argument `name`, but only nodes of a graph are annotated.
constexpr std::string_view kName = "name";

std::string TextOf(std::string_view json) {
  return json.starts_with('"') ? JsonStringOrText(json) : std::string();
}

}  // namespace

GraphAnnotations::GraphAnnotations(const Trace& trace) {
  const ArgReader name(trace, kName);
  if (trace.gpu.graph_node.empty() || !name.anywhere()) return;
  std::vector<uint32_t> of_row(trace.gpu.size());
  std::unordered_map<StringId, uint32_t> numbers;
  for (size_t row = 0; row < of_row.size(); ++row) {
    if (trace.gpu.graph_node[row] == 0) continue;
    const StringId json = name.Text(GpuArgs(trace, row));
    if (json == StringId::kEmpty) continue;
    const auto [known, added] = numbers.try_emplace(json, 0);
    if (added) {
      std::string text = TextOf(trace.Text(json));
      if (!text.empty()) {
        known->second = static_cast<uint32_t>(texts_.size());
        texts_.push_back(std::move(text));
      }
    }
    of_row[row] = known->second;
  }
  if (texts_.size() > 1) of_row_ = std::move(of_row);
}

std::string GraphAnnotationOf(const Trace& trace, size_t gpu_row) {
  if (trace.gpu.graph_node[gpu_row] == 0) return {};
  return TextOf(ArgText(trace, GpuArgs(trace, gpu_row), kName).value_or(""));
}

}  // namespace tacho
