#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/layers/layer_table.h"
#include "analysis/layers/step_layers.h"
#include "analysis/prepared_trace.h"

namespace tacho {

enum class OpportunityKind : uint8_t { kFuse, kOverlap, kCount };
std::string_view OpportunityKindId(OpportunityKind kind);  // "fuse", "overlap"

// Something that repeats in the layers of a phase and could take less time, with the most that this
// would save. It is a ceiling, not a forecast, and ceilings do not add up: they may be of the same
// time. All times and counts are sums over the steps of the phase.
//
// kFuse: a row of short kernels, one after another on a stream, that could be one kernel. It saves
// at most the time from the first start to the last end, less the longest kernel.
//
// kOverlap: exchanges of tokens between the ranks of experts (dispatch, combine) that nothing
// hides, beside the shared expert, which neither needs nor feeds them. It saves at most the shorter
// of the two, in each layer, with the gaps before their work: what moves takes its gap along.
struct Opportunity {
  OpportunityKind kind = OpportunityKind::kFuse;
  Phase phase = Phase::kOther;
  uint32_t layers = 0;  // layers that have it in some step
  uint64_t steps = 0;   // steps of the phase
  uint64_t count = 0;   // how often it occurs in them
  DurationNs most;      // the most that it would save
  double share = 0;     // of the time of the layers, with the gaps inside of them
  // kFuse.
  std::vector<std::string> kernels;  // names in the file, in order
  DurationNs gaps;                   // part of `most`: nothing ran on the device
  // kOverlap.
  // Exchanges, and the shared expert, while nothing else ran on the device, and the gaps before
  // their work.
  DurationNs exposed, movable;
};

// The opportunities of the steps that `table` counts, by `most` a step, then by phase and names.
// `steps`: LayersOfSteps, `table`: FindLayers, both for this trace. Empty if no layers were found,
// and for a CPU engine. Cost: O(n log n).
std::vector<Opportunity> FindOpportunities(const PreparedTrace& prepared, const LayeredSteps& steps,
                                           const LayerTable& table);

}  // namespace tacho
