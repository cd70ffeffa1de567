#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/steps/steps.h"
#include "model/track_index.h"

namespace tacho {

// The steps that may have done more work on the devices than their recorded launches show. Work
// without a launch call in the trace ran among the work of such a step or next to it; or, if the
// step has no work, it ran when the work of the step should have run. Indexes into `steps`, sorted.
// Cost: O(n) over GPU work; a sort of the steps' work only if some has no launch.
std::vector<uint32_t> StepsWithUnlaunchedWork(const TrackIndex& index, const LaunchLinks& links,
                                              const std::vector<Step>& steps);

}  // namespace tacho
