#pragma once

#include "analysis/device/launches.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// How long devices of the scope may have been busy with work that was launched before the recording
// began, which a profiler drops. The evidence: the first work of a stream was launched in the trace
// and waited from there until it ran, for most of the time since the trace began and longer than a
// launch takes, with no other work of its device recorded in between. Where the thread had made the
// stream wait for an event, only if the trace has recorded no event before: that one may be it.
// 0 without such evidence. Cost: two passes over the GPU work.
DurationNs MayBeBusyWithEarlierWork(const TrackIndex& index, const LaunchLinks& links,
                                    const Scope& scope);

}  // namespace tacho
