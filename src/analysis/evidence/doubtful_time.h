#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/evidence/work_alike.h"
#include "base/interval_set.h"
#include "model/track_index.h"

namespace tacho {

// How far the devices' clocks are behind the host's at most. By a device's clock, a call is earlier
// by up to that much.
struct ClocksBound {
  bool common = true;                               // all clocks are right
  std::optional<DurationNs> behind = DurationNs{};  // absent: unknown
};

// When missing work of calls may have run. A stream runs its work in the order of the launches. So
// the work ran after its call had started and after all work launched onto the stream before had
// ended; and before the next work on the stream started, or a call that waited for the device
// returned. If the call lies in an operator, the work's turn (turns.h) was also no longer than
// twice the longest turn of kernels like it, if there are ten of these, and if neither the host nor
// the next work of the stream waited longer: the kernels of a prefill take a hundred times as long
// as those of a decode. The missing work ran on one of the streams that work like it ran on. Work
// is alike if calls of the same name in operators of the same name launch it. If no work is like
// it, the missing work may have run at any time from the call on.
//
// `incomplete`: the calls that lack work, rows of Trace::host_calls by start. Without a common
// clock, what the host did bounds only the start.
// Cost: O(n), and a sort of the work that was launched between the first and the last of the calls.
IntervalSet DoubtfulTime(const TrackIndex& index, const LaunchLinks& links,
                         const std::vector<uint32_t>& incomplete, const WorkByLikeness& works,
                         const ClocksBound& clocks);

}  // namespace tacho
