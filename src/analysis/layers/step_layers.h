#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/layers/layer_blocks.h"
#include "analysis/layers/layer_spans.h"
#include "analysis/layers/step_roles.h"

namespace tacho {

// Whether layers were found; if not, why.
enum class LayersState : uint8_t {
  kFound,
  kNoSteps,       // the trace names no steps
  kNoWork,        // no step has all its work: some was lost or cut off, or has no launch call
  kNoMixer,       // no kernel is known as attention or a state space
  kNoRepetition,  // fewer than two mixers in each step
  kIrregular,     // AreRegular is false, or a step has mixers on several streams
  kTimes,         // the trace's device times are unreliable (integrity)
  kCount,
};
std::string_view LayersStateId(LayersState state);  // "found", "no-steps", ...
// Why there are no layers: "no step has all its work"; "" if there are.
std::string_view WhyNoLayers(LayersState state);

// The layers of a step, which follow from its roles alone. Steps with equal roles share one.
struct LayerStructure {
  std::vector<LayerSpan> layers;   // empty: no layers found, or unreliable ones
  std::vector<LayerBlock> blocks;  // one for each piece of work; empty without layers
  bool irregular = false;          // AreRegular is false
};

struct StepLayers {
  StepRoles of;
  // One for each piece; empty if the step has no layers, or not the trace's number of them.
  std::vector<LayerBlock> blocks;
  std::shared_ptr<const LayerStructure> structure;

  [[nodiscard]] bool counts() const { return !blocks.empty(); }
};

struct LayeredSteps {
  LayersState state = LayersState::kNoSteps;
  uint32_t count = 0;             // the number of layers that most steps have
  std::vector<StepLayers> steps;  // sorted by device, then step; empty unless layers were found
};

// Finds the layers of each step (see FindLayerSpans, BlocksOf). Steps whose work is not completely
// known are left out. Cost: O(n).
LayeredSteps LayersOfSteps(const PreparedTrace& prepared);

// Calls visit(piece, own, gap) for each piece of a step's work (StepRoles::pieces) in the order of
// time. `own`: the time that is charged to it; during the rest of its duration work that began
// earlier ran, too. Each nanosecond between the first and the last work of a step belongs to the
// running work that began first, so these times do not overlap; one may be empty. `gap`: the time
// right before it in which no work of the step ran.
void EachPiece(const StepRoles& of, auto visit) {
  const std::vector<WorkItem>& items = of.device->items;
  if (of.pieces() == 0) return;
  TimeNs until = of.Work(0).when.start;
  if (!of.draft.empty()) until = std::min(until, items[of.draft[0]].when.start);
  const auto add = [&](size_t piece, Interval when) {
    const TimeNs start = std::max(until, when.start);
    const DurationNs gap = start - until;
    until = std::max(until, when.end);
    visit(piece, Interval{start, until}, gap);
  };
  size_t draft = 0;
  for (size_t i = 0; i < of.items.size(); ++i) {
    for (; draft < of.draft.size() && of.draft[draft] < of.items[i]; ++draft)
      add(of.items.size() + draft, items[of.draft[draft]].when);
    add(i, items[of.items[i]].when);
  }
  for (; draft < of.draft.size(); ++draft)
    add(of.items.size() + draft, items[of.draft[draft]].when);
}

}  // namespace tacho
