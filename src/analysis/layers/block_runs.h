#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "analysis/layers/step_layers.h"

namespace tacho {

// Pieces of a step's work that follow one another, all in one layer (or outside of all layers) and
// of one block. A layer has several runs of a block that occurs twice, such as its norms.
struct BlockRun {
  static constexpr uint32_t kOutside = 0xffffffff;

  const StepRoles* of = nullptr;  // the step
  uint32_t layer = kOutside;      // LayerRow::index
  LayerBlock block = LayerBlock::kOther;
  // From the first to the last nanosecond that is charged to the pieces (EachPiece). Empty if no
  // time is charged to them.
  Interval when;
  DurationNs charged, gap;          // what the run adds to BlockTime::device and gap
  std::span<const uint32_t> items;  // the pieces: indexes into the device's items
  // By piece: the time that is charged to it.
  std::span<const Interval> times;
};
// The spans are valid during the call.
using OnBlockRun = std::function<void(const BlockRun&)>;

// Calls `on_run` for all work of the steps that count: in the order of LayeredSteps, the runs of a
// step in the order of time. These do not overlap; runs of different steps may. Cost: O(n).
void EachBlockRun(const LayeredSteps& found, const OnBlockRun& on_run);

}  // namespace tacho
