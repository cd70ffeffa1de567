#include "analysis/opportunities/fusible_runs.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tacho {
namespace {

constexpr std::array<std::string_view, 9> kFusible = {"activation", "elementwise", "fused",
                                                      "kv_cache",   "memory.copy", "norm",
                                                      "quantize",   "reduce",      "rope"};

bool IsCandidate(const WorkItem& item, const std::vector<bool>& may_be_fused) {
  return item.kind == WorkKind::kCompute && may_be_fused[item.category];
}

}  // namespace

bool MayBeFused(std::string_view category) {
  return std::ranges::any_of(kFusible, [&](std::string_view group) {
    return category.starts_with(group) &&
           (category.size() == group.size() || category[group.size()] == '.');
  });
}

void ForEachFusibleRun(const StepLayers& step, const BusyBefore& busy,
                       const std::vector<bool>& may_be_fused,
                       const std::function<void(const FusibleRun&)>& visit) {
  const std::vector<LayerSpan>& layers = step.structure->layers;
  const std::vector<WorkItem>& items = step.of.device->items;
  const std::span<const uint32_t> work = step.of.items;
  size_t layer = 0;
  for (size_t begin = layers.front().begin, end = 0; begin < layers.back().end;
       begin = std::max(end, begin + 1)) {
    const WorkItem& first = items[work[begin]];
    TimeNs last_end = first.when.end;
    DurationNs longest;
    for (end = begin; end < layers.back().end; ++end) {
      const WorkItem& item = items[work[end]];
      if (item.stream != first.stream || !IsCandidate(item, may_be_fused)) break;
      last_end = std::max(last_end, item.when.end);
      longest = std::max(longest, item.when.length());
    }
    if (end < begin + 2) continue;
    while (begin >= layers[layer].end) ++layer;
    visit({work.subspan(begin, end - begin), layer, last_end - first.when.start - longest,
           busy.Gaps(work[begin], work[end - 1])});
  }
}

}  // namespace tacho
