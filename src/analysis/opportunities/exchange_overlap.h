#pragma once

#include "analysis/layers/step_layers.h"
#include "analysis/opportunities/busy_before.h"

namespace tacho {

// The exchanges of tokens in one layer, and the shared expert, as far as nothing else ran on the
// device meanwhile; each piece of work with the gap before it, in which nothing ran at all.
struct ExchangeOverlap {
  DurationNs exposed, movable;

  [[nodiscard]] DurationNs most() const { return std::min(exposed, movable); }
};

// Of the layer `layer` of a step. Both are 0 unless the layer has exchanges and a shared expert.
// What runs for other layers and steps counts as something else. Kernels count for the shared
// expert if they are its products or its activation; without an activation between its products the
// layer has no shared expert, because the products may then prepare the tokens that are sent. Cost:
// O(n log n) for n pieces of work in the layer.
ExchangeOverlap ExchangeOverlapOf(const StepLayers& step, size_t layer, const BusyBefore& busy);

}  // namespace tacho
