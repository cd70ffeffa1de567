#pragma once

#include "analysis/device/launches.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// How long devices of the scope may have been busy with work that was launched before the recording
// began; a profiler drops such work. The evidence: the first work of a stream was launched in the
// trace, and from the launch it waited to run for most of the time since the trace began and longer
// than a launch takes, with no other work of its device recorded meanwhile. If the thread had made
// the stream wait for an event, this counts only if no event was recorded in the trace before: the
// stream may have waited for that one. 0 without such evidence. Cost: two passes over the GPU work.
DurationNs MayBeBusyWithEarlierWork(const TrackIndex& index, const LaunchLinks& links,
                                    const Scope& scope);

}  // namespace tacho
