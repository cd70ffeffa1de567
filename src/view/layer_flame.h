#pragma once

#include <vector>

#include "view/rank_rows.h"
#include "view/selection.h"

namespace tacho {

// A flame graph of the model's work in a window: phase, layer, block, name of the work. Work
// outside of layers lies in its block, the block in the phase. Times are device time, charged as
// BlockTime says, so the totals of the whole trace are those of the LayerTable. Colours:
// Palette::kBlocks. `blocks`: a row of kind kBlock. Otherwise as FlameGraph. Cost: O(n log n) for n
// pieces of work in the window.
std::vector<FlameNode> LayerFlame(const RankRows& rank, const TimelineRow& blocks, Interval window,
                                  DurationNs least, size_t most = kMostFlameSlices);

}  // namespace tacho
