#pragma once

#include <vector>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Which calls put work onto a stream that the same thread had made wait for an event since its
// last such call, by host call. The calls do not name their stream. Empty when there is no wait.
// Cost: O(n).
std::vector<bool> CallsBehindWaits(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
