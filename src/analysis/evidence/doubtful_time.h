#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/evidence/work_alike.h"
#include "base/interval_set.h"
#include "model/track_index.h"

namespace tacho {

// How much the devices' clocks and the host's differ.
struct ClocksBound {
  bool common = true;  // all clocks are right
  // The most by which the devices' clocks are behind the host's, so a call may be earlier by this
  // much on a device's clock. Absent: unknown.
  std::optional<DurationNs> behind = DurationNs{};
};

// When missing work of calls may have run.
//
// Work is similar if it was launched by calls of the same name in operators of the same name. The
// missing work of a call ran on one of the streams of similar work. If there is no similar work, it
// may have run at any time after the call.
//
// A stream runs its work in the order of the launches. So the missing work ran after its call had
// started and after all work launched earlier onto the stream had ended. It ended before the next
// work on the stream started, and before a call that waited for the device returned.
//
// The turn of a piece of work is its run time and its wait on its stream (turns.h). If the call
// lies in an operator and there are ten similar kernels, the missing work's turn is also taken to
// be at most twice their longest turn. This may be too short, because the kernels of a prefill take
// a hundred times as long as those of a decode. So if the host waits for work at the end of this
// limit, the limit reaches to the end of that wait. And if the next work of the stream was launched
// before the limit ends, that work may have waited, and the limit is not used.
//
// `incomplete`: the calls that lack work, as rows of Trace::host_calls, sorted by start. Without a
// common clock, host times bound only the start of the missing work. Cost: O(n), and a sort of the
// work that was launched between the first and the last of these calls.
IntervalSet DoubtfulTime(const TrackIndex& index, const LaunchLinks& links,
                         const std::vector<uint32_t>& incomplete, const WorkByLikeness& works,
                         const ClocksBound& clocks);

}  // namespace tacho
