#pragma once

#include <optional>
#include <vector>

#include "analysis/device/device_work.h"

namespace tacho {

// What a device does outside of a scope's window: where the gaps at its two ends begin and end.
struct BeyondWindow {
  std::optional<TimeNs> last_end;  // of the work before
  TimeNs next_start;               // of the work after
  std::vector<WorkItem> next;      // the work that starts then; empty: none
};

// By device of `work`. Cost: two passes over the device's events.
std::vector<BeyondWindow> LookBeyond(const Trace& trace, const DeviceWork& work,
                                     const Interval& window);

}  // namespace tacho
