#pragma once

#include <cstdint>
#include <vector>

#include "analysis/launches.h"
#include "base/interval_set.h"
#include "model/track_index.h"

namespace tacho {

// When the work of calls may have run that is not in the trace: from its call to the start of the
// next work that was launched onto its stream after it, and no longer than twice the longest time
// that work like it took from its call to its end. Its stream is one of those that work like it ran
// on. Like it is what calls of the same name in operators of the same name launch. If nothing is,
// until every stream has begun with work launched later, or to the end.
//
// `incomplete`: those calls, rows of Trace::host_calls by start. Cost: O(n), and a sort of the GPU
// work.
IntervalSet DoubtfulTime(const TrackIndex& index, const LaunchLinks& links,
                         const std::vector<uint32_t>& incomplete);

}  // namespace tacho
