#include "analysis/layers/step_layers.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

namespace tacho {
namespace {

constexpr std::array<std::string_view, static_cast<size_t>(LayersState::kCount)> kLayersStateIds = {
    "found", "no-steps", "no-work", "no-mixer", "no-repetition", "irregular", "times-refused"};

LayerStructure StructureOf(const std::vector<LayerRole>& roles) {
  LayerStructure of{FindLayerSpans(roles), {}, false};
  of.irregular = !of.layers.empty() && !AreRegular(roles, of.layers);
  if (of.irregular) of.layers.clear();
  if (!of.layers.empty()) of.blocks = BlocksOf(roles, of.layers);
  return of;
}

// On a CPU engine one operator may be several pieces of work. A later piece gets the block of the
// operator's first piece, unless one of these two pieces is inside a layer and the other is not.
std::vector<LayerBlock> ContinuedBlocks(const StepRoles& of, std::vector<LayerBlock> blocks) {
  std::map<uint32_t, LayerBlock> of_row;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const WorkItem& item = of.device->items[of.items[i]];
    if (!item.continued) {
      of_row[item.row] = blocks[i];
    } else if (const auto first = of_row.find(item.row);
               first != of_row.end() && IsInLayer(first->second) == IsInLayer(blocks[i])) {
      blocks[i] = first->second;
    }
  }
  return blocks;
}

size_t LayersIn(const StepLayers& step) {
  return step.of.several_streams ? 0 : step.structure->layers.size();
}

// The number of layers that most steps have; of several such numbers the largest. 0: no step has
// layers.
size_t UsualCount(const std::vector<StepLayers>& steps) {
  std::map<size_t, uint64_t> steps_with;  // keyed by number of layers
  for (const StepLayers& step : steps) ++steps_with[LayersIn(step)];
  size_t usual = 0;
  uint64_t most = 0;
  for (const auto& [count, with] : steps_with) {
    if (count > 0 && with >= most) {
      most = with;
      usual = count;
    }
  }
  return usual;
}

LayersState WhyNone(const std::vector<StepLayers>& steps) {
  const auto any = [&](auto holds) { return std::ranges::any_of(steps, holds); };
  if (steps.empty()) return LayersState::kNoWork;
  if (any([](const StepLayers& s) { return s.structure->irregular || s.of.several_streams; }))
    return LayersState::kIrregular;
  if (any([](const StepLayers& s) { return std::ranges::any_of(s.of.roles, IsMixer); }))
    return LayersState::kNoRepetition;
  return LayersState::kNoMixer;
}

}  // namespace

std::string_view LayersStateId(LayersState state) {
  return kLayersStateIds.at(static_cast<size_t>(state));
}

std::string_view WhyNoLayers(LayersState state) {
  switch (state) {
    case LayersState::kNoSteps:
      return "no step of the engine is named";
    case LayersState::kNoWork:
      return "no step has all its work";
    case LayersState::kNoMixer:
      return "no kernel is known as attention or a state space";
    case LayersState::kNoRepetition:
      return "no two mixers, with a norm and products between them, follow each other in a step";
    case LayersState::kIrregular:
      return "what lies around the mixers is not alike: another model runs in the same step, or "
             "the layers are made in a way that tacho does not know";
    case LayersState::kTimes:
      return "the device's times are refused";
    case LayersState::kFound:
    case LayersState::kCount:
      break;
  }
  return "";
}

LayeredSteps LayersOfSteps(const PreparedTrace& prepared) {
  if (!prepared.integrity.device_times()) return {LayersState::kTimes, 0, {}};
  if (prepared.steps.steps.empty()) return {LayersState::kNoSteps, 0, {}};
  LayeredSteps found;
  std::unordered_map<std::string, std::shared_ptr<const LayerStructure>> structures;  // by roles
  for (StepRoles& step : RolesOfSteps(prepared)) {
    const std::string key(reinterpret_cast<const char*>(step.roles.data()), step.roles.size());
    std::shared_ptr<const LayerStructure>& structure = structures[key];
    if (!structure) structure = std::make_shared<const LayerStructure>(StructureOf(step.roles));
    found.steps.push_back({std::move(step), {}, structure});
  }
  found.count = static_cast<uint32_t>(UsualCount(found.steps));
  if (found.count == 0) return {WhyNone(found.steps), 0, {}};
  found.state = LayersState::kFound;
  for (StepLayers& step : found.steps) {
    if (LayersIn(step) != found.count) continue;
    step.blocks = step.structure->blocks;
    if (prepared.work.on_host) step.blocks = ContinuedBlocks(step.of, std::move(step.blocks));
    step.blocks.resize(step.of.pieces(), LayerBlock::kDraft);
  }
  return found;
}

}  // namespace tacho
