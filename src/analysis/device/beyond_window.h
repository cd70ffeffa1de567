#pragma once

#include <optional>
#include <vector>

#include "analysis/device/device_work.h"

namespace tacho {

// The GPU work of one device just before and just after a scope's window. It shows where the idle
// gaps at the two ends of the window really begin and end.
struct BeyondWindow {
  std::optional<TimeNs> last_end;  // latest end before the window; absent: no work there
  TimeNs next_start;               // first start after the window
  // All work that starts at `next_start`; empty: no work after the window.
  std::vector<WorkItem> next;
};

// One entry for each device of `work`, in the same order. Cost: two passes over the trace's GPU
// events.
std::vector<BeyondWindow> LookBeyond(const Trace& trace, const DeviceWork& work,
                                     const Interval& window);

}  // namespace tacho
