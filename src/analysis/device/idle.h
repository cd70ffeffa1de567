#pragma once

#include <functional>

#include "analysis/device/device_work.h"
#include "analysis/device/idle_table.h"
#include "analysis/device/in_flight.h"
#include "analysis/device/launches.h"
#include "analysis/host/ops.h"
#include "base/interval_set.h"

namespace tacho {

// A stretch in which one device is idle for one cause.
struct IdleStretch {
  Interval when;
  uint32_t device = 0;  // index into DeviceWork::devices
  IdleCause cause = IdleCause::kUnknown;
  StringId before{}, after{};  // names of the work before and after the gap, as in IdleGap
  // Index of the work named by `after` among the device's items. kNoItem for work after the window.
  static constexpr uint32_t kNoItem = 0xffffffff;
  uint32_t after_item = kNoItem;
};
// Called for the stretches of one device after another, in the order of time. The stretches of one
// device do not overlap. Summed by cause, their lengths are the totals in IdleTable.
using OnStretch = std::function<void(const IdleStretch&)>;

inline constexpr size_t kListedGaps = 50;
// Tells where causes can be known. Elsewhere the cause is kUnknown.
struct KnownCauses {
  bool common_clock = true;  // host and device use the same clock; false: no cause can be known
  // Times in which the trace lacks work. Gaps that overlap them have unknown causes, because the
  // missing work may have run in these gaps. Null: no such times.
  const IntervalSet* not_in = nullptr;
};
// The gaps are those of DeviceTime: with a window, idle time at its two ends counts. `links`: from
// LinkLaunches for the same trace. `in_flight`: null if it is unknown when requests were in flight.
// `on_stretch`, if set, gets all idle time, each gap in one or more stretches. Cost: O(n) for n
// items and host calls, plus a look at the host slices that overlap a listed gap.
IdleTable AttributeIdle(const TrackIndex& index, const DeviceWork& work, const LaunchLinks& links,
                        const Scope& scope = {}, const InFlight* in_flight = nullptr,
                        size_t max_gaps = kListedGaps, const OnStretch& on_stretch = {},
                        const KnownCauses& causes = {});

}  // namespace tacho
