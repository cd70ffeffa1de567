#pragma once

#include <cstdint>
#include <vector>

#include "analysis/device/launches.h"
#include "analysis/steps/steps.h"
#include "model/track_index.h"

namespace tacho {

// The steps that may have done more device work than their recorded launches show, as sorted
// indexes into `steps`. The sign: work whose launch call is not in the trace ran close to the work
// of the step. If the step has no work, such work ran when the step's work should have run. Cost:
// O(n) for GPU work; a sort of the steps' work only if some work has no launch.
std::vector<uint32_t> StepsWithUnlaunchedWork(const TrackIndex& index, const LaunchLinks& links,
                                              const std::vector<Step>& steps);

}  // namespace tacho
