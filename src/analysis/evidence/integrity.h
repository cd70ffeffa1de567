#pragma once

#include <algorithm>
#include <vector>

#include "analysis/evidence/device_clock.h"
#include "analysis/evidence/impossible_work.h"
#include "analysis/evidence/lost_work.h"
#include "analysis/evidence/recorder_stops.h"
#include "base/interval_set.h"

namespace tacho {

// How far the figures of a trace can be trusted: whether the work that was launched is there,
// whether its times are possible, and whether the recorders ran until the end. Empty for a trace
// without device work.
struct Integrity {
  LostWork lost;
  std::vector<DeviceClock> clocks;  // sorted by device
  ImpossibleWork impossible;
  RecorderStops stops;
  // Calls that lack some or all of their work (rows of Trace::host_calls, sorted), and when the
  // missing work may have run. These two are not written into results.
  std::vector<uint32_t> incomplete_calls;
  IntervalSet lost_when;

  // Each of the next three functions says whether certain figures are valid.
  //
  // Figures of when and how long work ran.
  [[nodiscard]] bool device_times() const { return !impossible.times_refused(); }
  // Figures of when the devices were idle or did not compute. `window`: the total length of the
  // devices' windows; at most 1 % of it may be time outside of the recording (`unrecorded`) or time
  // in which missing work may have run.
  [[nodiscard]] bool idle_time(DurationNs window, DurationNs unrecorded = {}) const {
    return device_times() && (lost.in_doubt + unrecorded).ns <= window.ns / 100;
  }
  // Figures that need one clock of host and devices: delays of launches, causes of idle time.
  [[nodiscard]] bool common_clock() const {
    return device_times() && std::ranges::all_of(clocks, [](const DeviceClock& clock) {
             return clock.state == DeviceClock::State::kRight;
           });
  }
};
// Cost: O(n); independent parts run at once on `threads` threads.
Integrity FindIntegrity(const TrackIndex& index, const LaunchLinks& links, const DeviceWork& work,
                        const Scope& scope, size_t threads = 1);

}  // namespace tacho
