#pragma once

#include <vector>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// For each host call: whether it launched work, and its thread made a stream wait for an event
// between its previous launch and this call. The calls do not name their stream, so the work may be
// on another stream than the one that waits. Empty if no stream was made to wait. Cost: O(n).
std::vector<bool> CallsBehindWaits(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
