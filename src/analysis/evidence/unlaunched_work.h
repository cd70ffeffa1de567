#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/steps/steps.h"
#include "model/track_index.h"

namespace tacho {

// The steps that may have done more work on the devices than their recorded launches show: work
// whose launch call is not in the trace ran among their work, or next to it; or when their work
// should have run, and they have none. Indexes into `steps`, sorted. Cost: O(n) over GPU work; a
// sort of the steps' work only if some has no launch.
std::vector<uint32_t> StepsWithUnlaunchedWork(const TrackIndex& index, const LaunchLinks& links,
                                              const std::vector<Step>& steps);

}  // namespace tacho
