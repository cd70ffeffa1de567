#pragma once

#include "analysis/device/launches.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// How long devices of the scope may have been busy with work that was launched before the recording
// began. A profiler does not record such work. The evidence for it: the first recorded work of a
// stream was launched within the trace, but then waited to run longer than a launch takes, and for
// at least half of the time from the start of the trace to its own start. Only those parts of the
// wait count in which no other work of the device was recorded. If the launching thread had made
// the stream wait for an event, the wait counts only if the trace shows no earlier recording of an
// event, because the stream may have waited for that event. 0 without such evidence. Cost: two
// passes over the GPU work.
DurationNs MayBeBusyWithEarlierWork(const TrackIndex& index, const LaunchLinks& links,
                                    const Scope& scope);

}  // namespace tacho
