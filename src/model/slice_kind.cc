#include "model/slice_kind.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tacho {
namespace {

// Names of accelerators with which producers begin their own categories.
constexpr std::array<std::string_view, 13> kMakes{"cuda",  // also HIP
                                                  "gpu",  "xpu",  "mtia", "mlu",
                                                  "musa", "hpu",  "npu",  "tpu",
                                                  "gcu",  "maca", "glow", "privateuse1"};

struct CategoryRow {
  std::string_view make;  // the category begins with it; "*": with any of kMakes
  std::string_view name;  // the rest of the category; "*": anything
  SliceKind kind = SliceKind::kOther;
  DeviceSign sign = DeviceSign::kNone;
};

// The first row that matches decides.
constexpr CategoryRow kCategories[] = {
    {"", "kernel", SliceKind::kKernel},
    {"", "cuda_graph", SliceKind::kKernel},
    {"", "cpu_op", SliceKind::kHostOp},
    {"", "python_function", SliceKind::kPythonFrame},
    {"", "user_annotation", SliceKind::kAnnotation},
    {"", "overhead"},
    {"", "Trace"},
    {"", "external_correlation"},
    {"", "cpu_instant_event"},
    {"", "collective_comm", SliceKind::kOther, DeviceSign::kPresent},
    // torch's "cuspy" backend: nodes of a graph that do not put work onto a device
    {"", "graph_event_node", SliceKind::kOther, DeviceSign::kPresent},
    {"", "graph_host_node", SliceKind::kOther, DeviceSign::kPresent},
    // unitrace: kernels and the commands of a queue
    {"gpu", "op", SliceKind::kOther, DeviceSign::kWorkByName},
    {"*", "runtime", SliceKind::kHostCall, DeviceSign::kPresent},
    {"*", "driver", SliceKind::kHostCall, DeviceSign::kPresent},
    {"*", "kernel", SliceKind::kKernel},
    {"*", "memcpy", SliceKind::kMemcpy},
    {"*", "memset", SliceKind::kMemset},
    {"*", "user_annotation", SliceKind::kGpuAnnotation},
    {"*", "profiler_range", SliceKind::kOther, DeviceSign::kRangeProfiler},
    {"*", "sync", SliceKind::kOther, DeviceSign::kPresent},
    {"*", "event", SliceKind::kOther, DeviceSign::kPresent},
    {"*", "notifier", SliceKind::kOther, DeviceSign::kPresent},
    {"*", "counters", SliceKind::kOther, DeviceSign::kPresent},
    {"cuda", "*", SliceKind::kOther, DeviceSign::kPresent},
    {"xpu", "scope_profiler", SliceKind::kOther, DeviceSign::kPresent},
    {"*", "*", SliceKind::kOther, DeviceSign::kUnread},
};

bool Fits(const CategoryRow& row, std::string_view category) {
  if (row.make.empty()) return category == row.name;
  const std::string_view make = category.substr(0, category.find('_'));
  if (make.size() + 1 >= category.size()) return false;
  if (row.make == "*" ? std::ranges::find(kMakes, make) == kMakes.end() : row.make != make) {
    return false;
  }
  return row.name == "*" || category.substr(make.size() + 1) == row.name;
}

}  // namespace

std::string_view CurrentCategoryName(std::string_view in_file) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kOld{{
      {"Kernel", "kernel"},
      {"Memcpy", "gpu_memcpy"},
      {"Memset", "gpu_memset"},
      {"Runtime", "cuda_runtime"},
      {"Operator", "cpu_op"},
  }};
  for (const auto& [old, current] : kOld) {
    if (in_file == old) return current;
  }
  return in_file;
}

CategoryMeaning MeaningOfCategory(std::string_view category) {
  const auto* const row = std::ranges::find_if(
      kCategories, [&](const CategoryRow& one) { return Fits(one, category); });
  if (row == std::end(kCategories)) return {};
  return {row->kind, row->sign, true};
}

}  // namespace tacho
