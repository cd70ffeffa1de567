#pragma once

#include <functional>

#include "analysis/device/device_work.h"
#include "analysis/device/idle_table.h"
#include "analysis/device/in_flight.h"
#include "analysis/device/launches.h"
#include "analysis/host/ops.h"
#include "base/interval_set.h"

namespace tacho {

// Idle time of one device with one cause.
struct IdleStretch {
  Interval when;
  uint32_t device = 0;  // index into DeviceWork::devices
  IdleCause cause = IdleCause::kUnknown;
  StringId before{}, after{};  // as in IdleGap
  // The work that `after` names, as an index into the device's items; kNoItem for work beyond the
  // window.
  static constexpr uint32_t kNoItem = 0xffffffff;
  uint32_t after_item = kNoItem;
};
// Called device by device, in the order of time. The stretches of a device do not overlap; their
// sums by cause are the table's.
using OnStretch = std::function<void(const IdleStretch&)>;

inline constexpr size_t kListedGaps = 50;
// Where causes are known; elsewhere they are kUnknown.
struct KnownCauses {
  bool common_clock = true;  // host and device have one clock; false: no cause is known
  // Causes are unknown in gaps that touch this time: work that is not in the trace may have run
  // there. Null: no such time.
  const IntervalSet* not_in = nullptr;
};
// `links`: from LinkLaunches, of the same trace. Gaps are those of DeviceTime: with a window, idle
// time at its two ends counts. `in_flight` is null where it is unknown. Cost: O(n) over the items
// and host calls, and a look at the host slices that touch a listed gap. `on_stretch`, unless
// empty, gets all of the idle time, each gap in one or more stretches.
IdleTable AttributeIdle(const TrackIndex& index, const DeviceWork& work, const LaunchLinks& links,
                        const Scope& scope = {}, const InFlight* in_flight = nullptr,
                        size_t max_gaps = kListedGaps, const OnStretch& on_stretch = {},
                        const KnownCauses& causes = {});

}  // namespace tacho
