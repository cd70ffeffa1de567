#pragma once

#include "analysis/layers/step_layers.h"

namespace tacho {

// How the layers fit the modules of the model, as the trace's Python frames name them. Times are of
// work inside of layers, as EachPiece charges it.
struct ModuleCheck {
  DurationNs same;   // launched inside of a module with the number of the layer
  DurationNs other;  // launched inside of a module with another number
  // The rest of the work was launched outside of such modules.

  [[nodiscard]] bool any() const { return same.ns + other.ns > 0; }
};

// PyTorch's profiler numbers the modules of a class from 0: "nn.Module: DecoderLayer_17". The
// class of the layers has as many modules as there are layers; of several such classes it is the
// one whose frames take longest. All 0 without such a class. Cost: O(n).
ModuleCheck CheckByModules(const PreparedTrace& prepared, const LayeredSteps& layers);

}  // namespace tacho
