#pragma once

#include <algorithm>
#include <vector>

#include "analysis/evidence/device_clock.h"
#include "analysis/evidence/impossible_work.h"
#include "analysis/evidence/lost_work.h"
#include "analysis/evidence/recorder_stops.h"
#include "base/interval_set.h"

namespace tacho {

// What a trace shows about the quality of its figures: whether the work that was launched is there,
// whether its times are possible, and whether its recorders ran until the end. Empty for a trace
// without device work.
struct Integrity {
  LostWork lost;
  std::vector<DeviceClock> clocks;  // by device
  ImpossibleWork impossible;
  RecorderStops stops;
  // Not in results: calls (rows of Trace::host_calls, sorted) that lack some or all of their work,
  // and when the missing work may have run.
  std::vector<uint32_t> incomplete_calls;
  IntervalSet lost_when;

  // Which figures are valid; each requires those before it.
  //
  // When and how long work ran.
  [[nodiscard]] bool device_times() const { return !impossible.times_refused(); }
  // When the devices were idle or did not compute. `window`: the length of all their windows
  // together; missing work may have run in 1 % of it at most. `unrecorded`: the part of the windows
  // outside of the recording.
  [[nodiscard]] bool idle_time(DurationNs window, DurationNs unrecorded = {}) const {
    return device_times() && (lost.in_doubt + unrecorded).ns <= window.ns / 100;
  }
  // What host and devices did at the same time: delays of launches, causes of idle time.
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
