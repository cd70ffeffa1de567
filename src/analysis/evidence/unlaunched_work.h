#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/steps/steps.h"
#include "model/track_index.h"

namespace tacho {

// The steps that may have done more device work than their recorded launches show, as sorted
// indexes into `steps`. Near the work of such a step ran work whose launch call is not in the
// trace; or, if the step has no work of its own, such work ran when the step's should have run.
// Cost: O(n) for GPU work; a sort of the steps' work only if some work has no launch.
std::vector<uint32_t> StepsWithUnlaunchedWork(const TrackIndex& index, const LaunchLinks& links,
                                              const std::vector<Step>& steps);

}  // namespace tacho
