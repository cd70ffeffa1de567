#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/layers/layer_blocks.h"
#include "analysis/prepared_trace.h"

namespace tacho {

// Whether layers were found, or why not.
enum class LayersState : uint8_t {
  kFound,
  kNoSteps,       // no step is named
  kNoWork,        // no step has all its work: it was lost, cut off, or has no launches
  kNoMixer,       // no kernel is known as attention or a state space
  kNoRepetition,  // fewer than two mixers in each step
  kIrregular,     // AreRegular is false, or the mixers of a step are on several streams
  kTimes,         // the device's times are refused
  kCount,
};
std::string_view LayersStateId(LayersState state);  // "found", "no-steps", ...

// Sums over the steps. Each nanosecond between the first and the last work of a step belongs to the
// work that began first, or to the gap before the next one.
struct BlockTime {
  LayerBlock block = LayerBlock::kOther;
  DurationNs device, gap;
  uint64_t count = 0;  // pieces of work
};
struct LayerRow {
  uint32_t index = 0;
  // "attention, mlp". If layers of one kind differ in other work, a number follows: "attention, mlp
  // 2". Of the first step of the phase.
  std::string kind;
  DurationNs device, gap;
  std::vector<BlockTime> blocks;  // in the order of LayerBlock
};
// The steps of one phase.
struct PhaseLayers {
  Phase phase = Phase::kOther;
  uint64_t steps = 0;
  std::vector<LayerRow> layers;
  std::vector<BlockTime> outside;  // of all layers
};

struct LayerTable {
  LayersState state = LayersState::kNoSteps;
  uint32_t count = 0;  // layers of most steps
  // With `count` layers; with work, but no layers or another number; without all their work.
  uint64_t steps = 0, left_out = 0, unknown = 0;
  DurationNs device;                // of the work of all these steps
  DurationNs in_steps;              // of those with `count` layers
  std::vector<PhaseLayers> phases;  // by Phase
};

// Finds the layers of a model in each step by the order of its kernels, without any help of the
// engine: FindLayerSpans, BlocksOf. A step counts if all its work is known. Cost: O(n).
LayerTable FindLayers(const PreparedTrace& prepared);

}  // namespace tacho
