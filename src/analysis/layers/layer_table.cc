#include "analysis/layers/layer_table.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/layers/block_runs.h"

namespace tacho {
namespace {

using SumsByBlock = BatchBlockSums::Cells;

std::vector<BlockTime> TimesOf(const SumsByBlock& sums) {
  std::vector<BlockTime> times;
  for (size_t i = 0; i < kLayerBlocks; ++i) {
    if (sums[i].count > 0)
      times.push_back({static_cast<LayerBlock>(i), sums[i].device, sums[i].gap, sums[i].count});
  }
  return times;
}

// Sums over the steps of one phase.
struct PhaseSums {
  uint64_t steps = 0;
  std::vector<uint32_t> step_indexes;
  std::vector<std::string> kinds;
  std::map<StepBatch, BatchBlockSums> batches;

  // The sums of one layer over all batches. `layer`: as in BatchBlockSums.
  [[nodiscard]] SumsByBlock Of(size_t layer) const {
    SumsByBlock all{};
    for (const auto& [batch, sums] : batches) {
      for (size_t i = 0; i < kLayerBlocks; ++i) {
        const BatchBlockSums::Cell& cell = sums.cells()[layer][i];
        all[i].device += cell.device;
        all[i].gap += cell.gap;
        all[i].count += cell.count;
      }
    }
    return all;
  }
};

DurationNs TimeOf(const StepRoles& of) {
  DurationNs sum;
  EachPiece(of, [&](size_t, Interval own, DurationNs) { sum += own.length(); });
  return sum;
}

// Names each layer by its mixer and its MLP: "attention, experts". If layers of the same name
// have different work, they are numbered.
std::vector<std::string> KindsOf(const std::vector<LayerRole>& roles,
                                 const std::vector<LayerBlock>& blocks,
                                 const std::vector<LayerSpan>& spans) {
  std::vector<std::pair<std::string, std::vector<LayerRole>>> layers;
  std::map<std::string, std::vector<std::vector<LayerRole>>> variants;
  for (const LayerSpan& span : spans) {
    const auto has = [&](LayerBlock block) {
      return std::find(blocks.begin() + static_cast<ptrdiff_t>(span.begin),
                       blocks.begin() + static_cast<ptrdiff_t>(span.end),
                       block) != blocks.begin() + static_cast<ptrdiff_t>(span.end);
    };
    std::string kind(LayerBlockId(blocks[span.mixer]));
    if (has(LayerBlock::kExperts) || has(LayerBlock::kExpertsUp)) {
      kind += ", experts";
    } else if (has(LayerBlock::kMlpUp)) {
      kind += ", mlp";
    }
    std::vector<LayerRole> work = TellingRoles(roles, span.begin, span.end);
    auto& known = variants[kind];
    if (std::ranges::find(known, work) == known.end()) known.push_back(work);
    layers.emplace_back(std::move(kind), std::move(work));
  }
  std::vector<std::string> kinds;
  for (auto& [kind, work] : layers) {
    const auto& known = variants[kind];
    const auto variant = std::ranges::find(known, work) - known.begin();
    kinds.push_back(known.size() == 1 ? kind : kind + ' ' + std::to_string(variant + 1));
  }
  return kinds;
}

// `batch`: of the step. Returns its device time.
DurationNs AddStep(const StepLayers& step, const StepBatch& batch, PhaseSums& sums) {
  const std::vector<LayerSpan>& layers = step.structure->layers;
  sums.step_indexes.push_back(step.of.step);
  if (sums.steps++ == 0) sums.kinds = KindsOf(step.of.roles, step.blocks, layers);
  BatchBlockSums& of = sums.batches.try_emplace(batch, layers.size()).first->second;
  DurationNs all;
  size_t layer = 0;
  EachPiece(step.of, [&](size_t i, Interval own, DurationNs gap) {
    const bool draft = step.of.IsDraft(i);
    while (!draft && layer < layers.size() && i >= layers[layer].end) ++layer;
    const bool inside = !draft && layer < layers.size() && i >= layers[layer].begin;
    const DurationNs whole = step.of.Work(i).when.length();
    of.Add(inside ? layer : layers.size(), step.blocks[i], own.length(), gap, whole - own.length());
    all += own.length();
  });
  of.EndStep();
  return all;
}

PhaseLayers PhaseOf(Phase phase, size_t layers, const PhaseSums& sums) {
  PhaseLayers of;
  of.phase = phase;
  of.steps = sums.steps;
  of.step_indexes = sums.step_indexes;
  of.outside = TimesOf(sums.Of(layers));
  for (const auto& [batch, of_batch] : sums.batches) of.batches.push_back(of_batch.Finish(batch));
  for (uint32_t i = 0; i < layers; ++i) {
    LayerRow& row = of.layers.emplace_back();
    row.index = i;
    row.kind = sums.kinds[i];
    row.blocks = TimesOf(sums.Of(i));
    for (const BlockTime& block : row.blocks) {
      row.device += block.device;
      row.gap += block.gap;
    }
  }
  return of;
}

}  // namespace

LayerTable FindLayers(const PreparedTrace& prepared, const LayeredSteps& found) {
  const std::vector<Step>& steps = prepared.steps.steps;
  LayerTable table;
  table.state = found.state;
  if (found.state != LayersState::kFound) return table;
  table.count = found.count;
  std::map<Phase, PhaseSums> phases;
  for (const StepLayers& step : found.steps) {
    const StepLabel& label = steps[step.of.step].label;
    const DurationNs device =
        step.counts() ? AddStep(step, BatchOf(label), phases[label.phase]) : TimeOf(step.of);
    table.device += device;
    if (step.counts()) table.in_steps += device;
    step.counts() ? ++table.steps : ++table.left_out;
  }
  table.unknown = static_cast<uint64_t>(std::ranges::count_if(
      steps, [](const Step& step) { return step.lost_work || step.cut || step.work_cut; }));
  table.modules = CheckByModules(prepared, found);
  for (const auto& [phase, sums] : phases)
    table.phases.push_back(PhaseOf(phase, found.count, sums));
  return table;
}

}  // namespace tacho
