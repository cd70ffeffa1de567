#include "analysis/names/producer.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace tacho {
namespace {

constexpr std::array<std::string_view, 9> kTorchKeys{
    "schemaVersion", "deviceProperties", "computeProperties", "distributedInfo", "trace_id",
    "record_shapes", "with_stack",       "profile_memory",    "vllm_version"};

struct ProducerSign {
  std::string_view name;
  std::string_view key;       // a key of the header
  std::string_view category;  // a category of events
};

constexpr ProducerSign kProducers[] = {
    {"VizTracer", "viztracer_metadata", "FEE"},
    {"clang -ftime-trace", "beginningOfTime", ""},
    {"Chrome", "controllerTraceDataKey", "disabled-by-default-devtools.timeline"},
    {"Chrome", "", "devtools.timeline"},
    {"rocprof", "rocprofiler-sdk-tool", ""},
    {"perf sched", "", "sched"},
    {"eBPF", "", "ebpf"},
    {"eBPF", "", "bpf"},
    {"Linux ftrace", "systemTraceEvents", ""},
};

bool HasKey(const TraceBasics& trace, std::string_view key) {
  return std::ranges::any_of(trace.header.fields,
                             [&](const auto& field) { return field.first == key; });
}

bool HasCategory(const TraceBasics& trace, auto is_wanted) {
  const std::vector<Category>& categories = trace.words.categories();
  for (size_t i = 0; i < categories.size(); ++i) {
    if (trace.counts.complete_by_category[i] > 0 && is_wanted(categories[i])) return true;
  }
  return false;
}

}  // namespace

bool IsTorchs(const TraceBasics& trace) {
  return std::ranges::any_of(kTorchKeys, [&](auto key) { return HasKey(trace, key); }) ||
         HasCategory(trace, [](const Category& category) { return category.meaning.known; });
}

std::string_view ProducerOf(const TraceBasics& trace) {
  const auto* const sign = std::ranges::find_if(kProducers, [&](const ProducerSign& one) {
    return (!one.key.empty() && HasKey(trace, one.key)) ||
           (!one.category.empty() && HasCategory(trace, [&](const Category& category) {
             return trace.words[category.name] == one.category;
           }));
  });
  return sign == std::end(kProducers) ? std::string_view() : sign->name;
}

}  // namespace tacho
