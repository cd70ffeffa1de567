#include "export/export_window.h"

#include <algorithm>

namespace tacho {

bool HasSlices(const Trace& trace, Interval window) {
  const SliceTable* const tables[] = {
      &trace.gpu,         &trace.host_ops,        &trace.host_calls, &trace.python_frames,
      &trace.annotations, &trace.gpu_annotations, &trace.others};
  return std::ranges::any_of(tables, [&](const SliceTable* table) {
    for (size_t row = 0; row < table->size(); ++row) {
      if (TouchesWindow(table->When(row), window)) return true;
    }
    return false;
  });
}

Interval WindowOfStep(const Trace& trace, const LaunchLinks& links, const Step& step) {
  Interval window = step.lasts;
  for (size_t row = 0; row < trace.gpu.size(); ++row) {
    const uint32_t call = links.call_of_gpu[row];
    if (call == LaunchLinks::kNone || !step.lasts.contains(trace.host_calls.start[call])) continue;
    window.end = std::max(window.end, trace.gpu.When(row).end);
  }
  return window;
}

}  // namespace tacho
