#include "analysis/device/beyond_window.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace tacho {

std::vector<BeyondWindow> LookBeyond(const Trace& trace, const DeviceWork& work,
                                     const Interval& window) {
  std::vector<BeyondWindow> beyond(work.devices.size());
  std::unordered_map<std::string_view, uint32_t> devices;
  for (uint32_t i = 0; i < work.devices.size(); ++i) devices.emplace(work.devices[i].device, i);
  std::vector<BeyondWindow*> of_stream;
  for (const Stream& stream : trace.words.streams()) {
    const auto device = devices.find(trace.Text(stream.device));
    of_stream.push_back(device == devices.end() ? nullptr : &beyond[device->second]);
  }
  for (const bool collect : {false, true}) {
    for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
      BeyondWindow* const device = of_stream[Index(trace.gpu.stream[row])];
      if (device == nullptr) continue;
      const Interval when = trace.gpu.When(row);
      if (collect) {
        if (!device->next.empty() && when.start == device->next_start && row != device->next[0].row)
          device->next.push_back({.when = when, .name = trace.gpu.name[row], .row = row});
      } else if (when.empty()) {
        continue;
      } else if (when.end <= window.start) {
        device->last_end = std::max(device->last_end.value_or(when.end), when.end);
      } else if (when.start >= window.end &&
                 (device->next.empty() || when.start < device->next_start)) {
        device->next_start = when.start;
        device->next = {{.when = when, .name = trace.gpu.name[row], .row = row}};
      }
    }
  }
  return beyond;
}

}  // namespace tacho
