#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/evidence/work_alike.h"
#include "base/interval_set.h"
#include "model/track_index.h"

namespace tacho {

// How far the devices' clocks are behind the host's at most, which makes calls so much earlier on
// them.
struct ClocksBound {
  bool common = true;                               // all are right
  std::optional<DurationNs> behind = DurationNs{};  // absent: unknown
};

// When the work of calls may have run that is not in the trace. A stream runs its work in the order
// of the launches: so from the end of the work that was launched onto it before, and from the call
// on, to the start of the next, or to the end of a call that waited for the device. In operators
// its turn (turns.h) is also no longer than twice the longest turn of kernels like it, if there are
// ten, and if neither the host waited longer nor the next work of the stream: the kernels of a
// prefill take a hundred times as long as those of a decode. Its stream is one of those that work
// like it ran on. Like it is what calls of the same name in operators of the same name launch. If
// nothing is, any time from the call on.
//
// `incomplete`: those calls, rows of Trace::host_calls by start. Without a common clock what the
// host did bounds nothing but the start.
// Cost: O(n), and a sort of the work that was launched between the first and the last of the calls.
IntervalSet DoubtfulTime(const TrackIndex& index, const LaunchLinks& links,
                         const std::vector<uint32_t>& incomplete, const WorkByLikeness& works,
                         const ClocksBound& clocks);

}  // namespace tacho
