#pragma once

#include "analysis/device/launches.h"
#include "analysis/scope.h"
#include "model/track_index.h"

namespace tacho {

// How long devices of the scope may have been busy with work that was launched before the recording
// began. A profiler does not record such work. The evidence is the first recorded work of a stream:
// it was launched within the trace, but then waited longer than a launch takes and for at least
// half of the time between the start of the trace and its own start. Parts of the wait in which
// other work of the device was recorded do not count.
//
// A stream may also wait for an event. So if the launching thread had made the stream wait for one,
// and the trace shows that an event was recorded before the launch, the wait does not count at all.
//
// Returns 0 without evidence. Cost: two passes over the GPU work.
DurationNs MayBeBusyWithEarlierWork(const TrackIndex& index, const LaunchLinks& links,
                                    const Scope& scope);

}  // namespace tacho
