#include "analysis/compare/block_changes.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "analysis/compare/run_changes.h"
#include "analysis/compare/step_uses.h"

namespace tacho {
namespace {

constexpr double kMostOfIt = 0.8;  // share of a change that odd layers explain
constexpr size_t kMostOddLayers = 3;

// The figures of the steps of one batch by key, in the order of their keys.
using FiguresByKey = std::map<std::string, StepFigure>;

// Keys of the figures of a whole step.
constexpr std::array<std::pair<const char*, StepFigure StepFigures::*>, 5> kWhole = {
    {{"span", &StepFigures::span},
     {"device", &StepFigures::device},
     {"gap", &StepFigures::gap},
     {"overlap", &StepFigures::overlap},
     {"work", &StepFigures::work}}};
constexpr std::array<std::pair<const char*, StepFigure BatchBlock::*>, 3> kOfBlock = {
    {{"device", &BatchBlock::device},
     {"gap", &BatchBlock::gap},
     {"overlap", &BatchBlock::overlap}}};

std::string KeyOf(LayerBlock block, std::string_view figure) {
  return fmt::format("{} {}", LayerBlockId(block), figure);
}
std::string KeyOf(LayerBlock block, size_t layer) {
  return fmt::format("{} {}", LayerBlockId(block), layer);
}

FiguresByKey StepsAndBlocks(const BatchBlocks& batch) {
  FiguresByKey figures;
  for (const auto& [name, figure] : kWhole) figures[name] = batch.whole.*figure;
  for (const BatchBlock& block : batch.blocks) {
    for (const auto& [name, figure] : kOfBlock) figures[KeyOf(block.block, name)] = block.*figure;
  }
  return figures;
}
FiguresByKey Layers(const BatchBlocks& batch) {
  FiguresByKey figures;
  for (const BatchBlock& block : batch.blocks) {
    for (size_t i = 0; i < block.layers.size(); ++i) {
      if (block.layers[i].ns > 0)
        figures[KeyOf(block.block, i)] = {block.layers[i], block.layer_deviations[i]};
    }
  }
  return figures;
}

// The batches of one phase of one trace.
struct OfTrace {
  size_t side = 0, run = 0;
  std::vector<const BatchBlocks*> batches;
};

std::vector<OfTrace> BatchesOf(const ComparedRanks& ranks, Phase phase) {
  std::vector<OfTrace> all;
  for (size_t side = 0; side < 2; ++side) {
    const SideRanks& runs = side == 0 ? ranks.base : ranks.now;
    for (size_t run = 0; run < runs.size(); ++run) {
      for (const TraceAnalysis* trace : runs[run]) {
        OfTrace& of = all.emplace_back(OfTrace{side, run, {}});
        for (const PhaseLayers& layers : trace->layers.phases) {
          if (layers.phase != phase) continue;
          for (const BatchBlocks& batch : layers.batches) of.batches.push_back(&batch);
        }
      }
    }
  }
  return all;
}

// Gathers the figures that `figures_of` takes from a batch. A trace without a figure has it with 0.
StepUses Gather(const std::vector<OfTrace>& traces, const SharedBatches& batches,
                const ComparedRanks& ranks, FiguresByKey (*figures_of)(const BatchBlocks&)) {
  StepUses uses;
  uses.runs = {ranks.base.size(), ranks.now.size()};
  const auto each = [&](auto&& visit) {
    for (const OfTrace& trace : traces) {
      for (const BatchBlocks* batch : trace.batches) {
        if (batches.contains(batch->batch)) visit(trace, *batch, figures_of(*batch));
      }
    }
  };
  each([&](const OfTrace& trace, const BatchBlocks& batch, const FiguresByKey& figures) {
    std::vector<double>& steps = uses.steps_of_runs[batch.batch][trace.side];
    steps.resize(uses.runs[trace.side]);
    steps[trace.run] += static_cast<double>(batch.steps);
    for (const auto& [key, figure] : figures) uses.uses[key].runs_on = {true, true};
  });
  each([&](const OfTrace& trace, const BatchBlocks& batch, const FiguresByKey& figures) {
    const auto steps = static_cast<double>(batch.steps);
    for (auto& [key, use] : uses.uses) {
      UseInGroup& group = use.groups[batch.batch][trace.side];
      group.steps += steps;
      group.windows += 1;
      OfRuns &totals = use.totals[batch.batch][trace.side],
             &of_runs = use.steps_of_runs[batch.batch][trace.side];
      totals.resize(uses.runs[trace.side]);
      of_runs.resize(uses.runs[trace.side]);
      of_runs[trace.run] += steps;
      const auto found = figures.find(key);
      // A block that is in no step of one side is gone or new there, whatever the batch.
      if (found == figures.end()) continue;
      const auto total = static_cast<double>(found->second.total.ns),
                 deviation = static_cast<double>(found->second.deviation.ns);
      group.calls += steps;
      group.total += total;
      group.squares += deviation * deviation * (steps - 1) + total * total / steps;
      totals[trace.run] += total;
    }
  });
  return uses;
}

// The batches that are compared, with the weight of base's steps with layers.
SharedBatches BatchesWithLayers(const std::vector<OfTrace>& traces, const SharedBatches& batches,
                                std::array<uint64_t, 2>& steps) {
  std::map<StepBatch, std::array<uint64_t, 2>> of_batches;
  for (const OfTrace& trace : traces) {
    for (const BatchBlocks* batch : trace.batches)
      of_batches[batch->batch][trace.side] += batch->steps;
  }
  SharedBatches shared;
  for (const auto& [batch, of_batch] : of_batches) {
    const auto known = batches.find(batch);
    if (known == batches.end() || std::ranges::min(of_batch) < 2) continue;
    shared[batch] = {static_cast<double>(of_batch[0]), known->second.size_shift};
    for (size_t side = 0; side < 2; ++side) steps[side] += of_batch[side];
  }
  for (auto& [batch, of] : shared) of.weight /= static_cast<double>(steps[0]);
  return shared;
}

// How many layers a block has figures of.
size_t MostLayers(const std::vector<OfTrace>& traces) {
  size_t most = 0;
  for (const OfTrace& trace : traces) {
    for (const BatchBlocks* batch : trace.batches) {
      for (const BatchBlock& block : batch->blocks) most = std::max(most, block.layers.size());
    }
  }
  return most;
}

std::set<uint32_t> LayerCounts(const SideRanks& runs) {
  std::set<uint32_t> counts;
  for (const RunRanks& run : runs) {
    for (const TraceAnalysis* trace : run) counts.insert(trace->layers.count);
  }
  return counts;
}

// Why a side has no blocks; "" if it has.
std::string WhyNone(std::string_view name, const SideRanks& runs) {
  for (const RunRanks& run : runs) {
    for (const TraceAnalysis* trace : run) {
      const LayerTable& layers = trace->layers;
      const bool found = layers.state == LayersState::kFound;
      const bool is_old =
          found ? std::ranges::all_of(layers.phases, &std::vector<BatchBlocks>::empty,
                                      &PhaseLayers::batches)
                : layers.state == LayersState::kNoSteps && !trace->steps.steps.empty();
      if (!trace->results.empty() && is_old)
        return trace->results +
               " does not hold blocks by batch: analyse the traces again with tacho analyze --json";
      if (!found) return fmt::format("{} has no layers: {}", name, WhyNoLayers(layers.state));
    }
  }
  return "";
}

std::string CountsText(const std::set<uint32_t>& counts) {
  std::string text;
  for (const uint32_t count : counts)
    text += fmt::format("{}{}", text.empty() ? "" : " and ", count);
  return text;
}

}  // namespace

std::vector<BlockChange::Layer> BlockChange::OddLayers() const {
  if (changed.empty() || changed.size() > kMostOddLayers || 4 * changed.size() > layers) return {};
  if (!device.IsBeyondNoise()) return changed;
  double sum = 0;
  for (const Layer& layer : changed) sum += layer.device.difference();
  return sum / device.difference() > kMostOfIt ? changed : std::vector<Layer>();
}

BlocksChange CompareBlocks(const ComparedRanks& ranks, Phase phase, const SharedBatches& batches,
                           double spread) {
  BlocksChange change;
  for (const auto& [name, side] : {std::pair("base", &ranks.base), {"new", &ranks.now}}) {
    change.cannot_tell = WhyNone(name, *side);
    if (!change.cannot_tell.empty()) return change;
  }
  const std::set<uint32_t> counts = LayerCounts(ranks.base), others = LayerCounts(ranks.now);
  if (counts != others) {
    change.other_layers = true;
    change.cannot_tell =
        fmt::format("base has {} layers, new {}", CountsText(counts), CountsText(others));
    return change;
  }
  const std::vector<OfTrace> traces = BatchesOf(ranks, phase);
  std::array<uint64_t, 2> steps{};
  const SharedBatches shared = BatchesWithLayers(traces, batches, steps);
  if (std::ranges::min(steps) < kFewestSteps) {
    change.cannot_tell = fmt::format(
        "too few steps of equal batch with layers: base {}, new {}; 8 of each are needed", steps[0],
        steps[1]);
    return change;
  }
  change.steps = steps;
  std::map<std::string, Change> by_key;
  const auto compare = [&](FiguresByKey (*figures_of)(const BatchBlocks&)) {
    for (KernelChange& of : CompareUses(Gather(traces, shared, ranks, figures_of), shared, spread))
      by_key[of.name] = of.time;
  };
  compare(StepsAndBlocks);
  // Layers of different stages of a pipeline are not the same layers.
  const size_t layers = counts.size() == 1 ? MostLayers(traces) : 0;
  if (layers > 0) compare(Layers);
  change.span = by_key["span"];
  change.device = by_key["device"];
  change.gap = by_key["gap"];
  change.overlap = by_key["overlap"];
  change.work = by_key["work"];
  for (size_t i = 0; i < kLayerBlocks; ++i) {
    const auto block = static_cast<LayerBlock>(i);
    if (!by_key.contains(KeyOf(block, "device"))) continue;
    BlockChange& row = change.blocks.emplace_back();
    row.block = block;
    row.device = by_key[KeyOf(block, "device")];
    row.gap = by_key[KeyOf(block, "gap")];
    row.overlap = by_key[KeyOf(block, "overlap")];
    for (uint32_t layer = 0; layer < layers; ++layer) {
      const auto of_layer = by_key.find(KeyOf(block, layer));
      if (of_layer == by_key.end()) continue;
      ++row.layers;
      if (of_layer->second.IsBeyondNoise()) row.changed.push_back({layer, of_layer->second});
    }
  }
  std::ranges::stable_sort(change.blocks, std::greater{}, [](const BlockChange& row) {
    return std::abs(row.device.difference());
  });
  return change;
}

}  // namespace tacho
