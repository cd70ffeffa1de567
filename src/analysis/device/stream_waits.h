#pragma once

#include <vector>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// By host call: whether work that the call launched may have waited for an event. True if the call
// launched work and its thread had made a stream wait for an event since its previous launch. The
// calls do not name their stream, so the work may be on another stream than the one that waits.
// Empty if no stream was made to wait. Cost: O(n).
std::vector<bool> CallsBehindWaits(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
