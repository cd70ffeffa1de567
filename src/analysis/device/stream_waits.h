#pragma once

#include <vector>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// By host call: whether it puts work onto a stream that the same thread, since its last such call,
// had made wait for an event. The calls do not name their stream. Empty if there is no wait. Cost:
// O(n).
std::vector<bool> CallsBehindWaits(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
