#pragma once

#include <vector>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// By host call: whether the call launched work, and the same thread had made a stream wait for an
// event since its last such call. The calls do not name their stream, so this may be another
// stream. Empty if no stream was made to wait. Cost: O(n).
std::vector<bool> CallsBehindWaits(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
