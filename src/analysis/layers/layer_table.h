#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/layers/batch_blocks.h"
#include "analysis/layers/module_check.h"
#include "analysis/layers/step_layers.h"
#include "analysis/prepared_trace.h"

namespace tacho {

// Times are sums over steps. Each nanosecond between the first and the last work of a step belongs
// to the running work that began first, or, if nothing runs, to the gap before the next work.
struct BlockTime {
  LayerBlock block = LayerBlock::kOther;
  DurationNs device, gap;
  uint64_t count = 0;  // pieces of work
};
struct LayerRow {
  uint32_t index = 0;
  // What the layer consists of, such as "attention, mlp". If layers with the same name have
  // different work, a number follows: "attention, mlp 2". Taken from the first step of the phase.
  std::string kind;
  DurationNs device, gap;
  std::vector<BlockTime> blocks;  // in the order of LayerBlock
};
// The steps of one phase.
struct PhaseLayers {
  Phase phase = Phase::kOther;
  uint64_t steps = 0;
  // Indexes of these steps in StepTable::steps. A step with work on several devices occurs once for
  // each device. Empty in results that were read back.
  std::vector<uint32_t> step_indexes;
  std::vector<LayerRow> layers;
  std::vector<BlockTime> outside;  // work outside of all layers
  // The same steps by batch. Empty in results of an older version.
  std::vector<BatchBlocks> batches;  // sorted by batch
};

struct LayerTable {
  LayersState state = LayersState::kNoSteps;
  uint32_t count = 0;  // the number of layers that most steps have
  // `steps`: steps with `count` layers. `left_out`: steps with no layers or another number of them.
  // `unknown`: steps some of whose work is missing.
  uint64_t steps = 0, left_out = 0, unknown = 0;
  DurationNs device;                // device time of `steps` and `left_out`
  DurationNs in_steps;              // device time of `steps`
  std::vector<PhaseLayers> phases;  // sorted by Phase
  // The configuration of the model has `count` layers, too. AnalyzeTrace sets it.
  bool as_configured = false;
  ModuleCheck modules;
};

// Adds up the layers of a model (LayersOfSteps), which are found from the order of the kernels
// without help from the engine. `found`: LayersOfSteps for the same trace. Cost: O(n).
LayerTable FindLayers(const PreparedTrace& prepared, const LayeredSteps& found);

}  // namespace tacho
