#pragma once

#include <array>
#include <string>
#include <vector>

#include "analysis/device/device_work.h"

namespace tacho {

struct GapCounts {
  uint64_t count = 0;
  // How many gaps are longer than this.
  uint64_t over_1us = 0, over_10us = 0, over_100us = 0, over_1ms = 0;
  DurationNs largest;
};

struct StreamTime {
  std::string stream;
  uint64_t events = 0;
  DurationNs sum;         // sum of durations, overlap counted twice
  DurationNs busy;        // union of the work
  uint64_t overlaps = 0;  // events that start before an earlier event of the stream has ended
  // `sum`, split in two ways; each list adds up to `sum`. `by_kind`: by WorkKind. `categories`: by
  // the kernels' categories, "copy" and "memset", sorted by time, longest first, then by name.
  std::array<DurationNs, kWorkKinds> by_kind{};
  std::vector<CategoryRow> categories;
};

// Where one device's time goes. All figures come from one sweep over the intervals of its work, so
//   busy + idle == window, and compute + exposed_comm + exposed_copy + idle == window, exactly.
struct DeviceTime {
  std::string device;
  bool on_host = false;  // a CPU engine: the executing thread stands for the device
  // False: some of the device's work was lost (evidence/lost_work.h). Then busy, compute,
  // comm_busy, copy_busy and all sums are lower bounds; idle, exposed_comm, exposed_copy, by_kinds,
  // by_concurrency and gaps are unknown and set to 0.
  bool whole = true;
  uint64_t gpu_events = 0;
  Interval window;  // the scope's window; without one, from the first start to the last end
  DurationNs busy;  // union of all work
  DurationNs idle;
  DurationNs compute;               // union of kernels that are not communication, and of memsets
  DurationNs exposed_comm;          // communication while nothing computes
  DurationNs exposed_copy;          // copies while nothing computes or communicates
  DurationNs kernel_sum;            // sum of kernel durations
  DurationNs kernel_busy;           // union of kernels, communication included
  DurationNs comm_busy, copy_busy;  // unions
  // Time by which kinds of work run together. The index is a bit set: bit k is WorkKind k; [0] is
  // idle.
  std::array<DurationNs, 16> by_kinds{};
  // Time by the number of items that run together: [0] is idle; the last cell is for 8 and more.
  std::array<DurationNs, 9> by_concurrency{};
  GapCounts gaps;  // stretches of the window in which no work runs
  std::vector<StreamTime> streams;
};

// One entry for each device, in the order of `work`. Cost: O(n) for n items that are already sorted
// by start, plus sorting their ends.
std::vector<DeviceTime> DecomposeDeviceTime(const DeviceWork& work, const Scope& scope = {});
// For a device some of whose work was lost: clears `whole` and the figures that are then unknown.
void ForgetIdleTime(DeviceTime& time);

}  // namespace tacho
