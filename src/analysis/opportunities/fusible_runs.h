#pragma once

#include <functional>
#include <span>
#include <vector>

#include "analysis/layers/step_layers.h"
#include "analysis/opportunities/busy_before.h"

namespace tacho {

// Kernels that follow one another and could be one.
struct FusibleRun {
  std::span<const uint32_t> items;  // indexes into the device's items, two or more
  size_t layer = 0;                 // of the first of them
  DurationNs most;                  // from the first start to the last end, less the longest
  DurationNs gaps;                  // part of `most` in which nothing ran on the device
};

// Whether a kernel of this category may become part of another one: it works on each token by
// itself, or moves data (elementwise, norm, rope, activation, quantization, copy, cache write).
bool MayBeFused(std::string_view category);

// Calls `visit` for each run of two or more fusible kernels inside the layers of a step. The
// kernels of a run are on one stream and no other work of the step begins between them. A run may
// go on from one layer into the next. `may_be_fused`: by WorkCategory. Cost: O(n).
void ForEachFusibleRun(const StepLayers& step, const BusyBefore& busy,
                       const std::vector<bool>& may_be_fused,
                       const std::function<void(const FusibleRun&)>& visit);

}  // namespace tacho
