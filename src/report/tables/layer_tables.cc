#include <algorithm>
#include <array>
#include <utility>

#include "base/share.h"
#include "report/tables/result_tables.h"

namespace tacho {
namespace {

using enum Unit;
using Col = TableColumn;

DurationNs DeviceTimeOf(const PhaseLayers& phase) {
  DurationNs sum;
  for (const LayerRow& layer : phase.layers) sum += layer.device;
  for (const BlockTime& block : phase.outside) sum += block.device;
  return sum;
}

// How long work of a block ran while work that began earlier ran, too.
DurationNs OverlapOf(const PhaseLayers& phase, LayerBlock block) {
  DurationNs overlap;
  for (const BatchBlocks& batch : phase.batches) {
    for (const BatchBlock& of : batch.blocks)
      if (of.block == block) overlap += of.overlap.total;
  }
  return overlap;
}

// Whether so much of the phase overlaps that device times alone mislead.
bool Overlaps(const PhaseLayers& phase) {
  constexpr double kLeast = 0.01;
  DurationNs overlap;
  for (const BatchBlocks& batch : phase.batches) overlap += batch.whole.overlap.total;
  return ShareOf(overlap, DeviceTimeOf(phase)) >= kLeast;
}

// The blocks of the layers, added up over all layers, then the blocks outside of layers.
std::vector<BlockTime> BlocksOf(const PhaseLayers& phase) {
  std::array<BlockTime, kLayerBlocks> sums;
  for (const LayerRow& layer : phase.layers) {
    for (const BlockTime& block : layer.blocks) {
      BlockTime& sum = sums.at(static_cast<size_t>(block.block));
      sum.block = block.block;
      sum.device += block.device;
      sum.gap += block.gap;
      sum.count += block.count;
    }
  }
  std::vector<BlockTime> blocks;
  for (const BlockTime& sum : sums) {
    if (sum.count > 0) blocks.push_back(sum);
  }
  blocks.insert(blocks.end(), phase.outside.begin(), phase.outside.end());
  return blocks;
}

Cell MeanOf(DurationNs sum, uint64_t count) {
  return count == 0 ? Cell() : Cell(sum.ns / static_cast<int64_t>(count));
}

uint64_t LayersWith(const PhaseLayers& phase, LayerBlock block) {
  return static_cast<uint64_t>(std::ranges::count_if(phase.layers, [&](const LayerRow& layer) {
    return std::ranges::find(layer.blocks, block, &BlockTime::block) != layer.blocks.end();
  }));
}

void AddBlocks(const PhaseLayers& phase, Table& table) {
  const DurationNs whole = DeviceTimeOf(phase);
  for (const BlockTime& block : BlocksOf(phase)) {
    const double share = ShareOf(block.device, whole);
    const bool inside = IsInLayer(block.block);
    table.Add({std::string(PhaseName(phase.phase)), std::string(LayerBlockId(block.block)),
               CountCell(phase.steps), block.device.ns, block.gap.ns, CountCell(block.count),
               MeanOf(block.device, phase.steps), MeanOf(block.gap, phase.steps), share, share,
               inside ? MeanOf(block.device, phase.steps * LayersWith(phase, block.block)) : Cell(),
               Overlaps(phase) ? MeanOf(OverlapOf(phase, block.block), phase.steps) : Cell()},
              inside ? Paint::kPlain : Paint::kDim);
  }
}

}  // namespace

const PhaseLayers* MainPhaseOf(const LayerTable& layers) {
  const auto most = std::ranges::max_element(layers.phases, {}, DeviceTimeOf);
  return most == layers.phases.end() ? nullptr : &*most;
}

Table LayerBlocksTable(const LayerTable& layers, bool main_phase, std::string title) {
  Table table{"layer_blocks",
              {Col{"phase", "phase", kText}.Means("phase of the steps"),
               Col{"block", std::move(title), kText}.Means(
                   "block of the layers, added up over them; then those outside of layers"),
               Col{"steps", "", kCount}.Means("number of steps of the phase").FileOnly(),
               Col{"device_ns", "", kDuration}.FileOnly(), Col{"gap_ns", "", kDuration}.FileOnly(),
               Col{"count", "", kCount}.FileOnly(),
               Col{"", "a step", kDuration}.ScreenOnly().Adds().UnitGroup(1),
               Col{"", "gaps", kDuration}.ScreenOnly().Adds().UnitGroup(1),
               Col{"", "device", kShare}.ScreenOnly(), Col{"", "", kBar}.ScreenOnly(),
               Col{"", "a layer", kDuration}.ScreenOnly(),
               Col{"", "hidden", kDuration}.ScreenOnly().Adds().UnitGroup(1)},
              {}};
  const PhaseLayers* only = main_phase ? MainPhaseOf(layers) : nullptr;
  for (const PhaseLayers& phase : layers.phases) {
    if (only == nullptr || only == &phase) AddBlocks(phase, table);
  }
  return table;
}

Table LayersTable(const LayerTable& layers, std::string title) {
  std::array<bool, kLayerBlocks> has{};
  for (const PhaseLayers& phase : layers.phases) {
    for (const LayerRow& layer : phase.layers) {
      for (const BlockTime& block : layer.blocks) has.at(static_cast<size_t>(block.block)) = true;
    }
  }
  Table table{"layers",
              {Col{"phase", std::move(title), kText}.Means("phase of the steps"),
               Col{"index", "layer", kCount}, Col{"kind", "kind", kText},
               Col{"steps", "", kCount}.Means("number of steps of the phase").FileOnly(),
               Col{"device_ns", "", kDuration}.FileOnly(), Col{"gap_ns", "", kDuration}.FileOnly(),
               Col{"", "a step", kDuration}.ScreenOnly().Adds().UnitGroup(1),
               Col{"", "gaps", kDuration}.ScreenOnly().Adds().UnitGroup(1)},
              {}};
  for (size_t i = 0; i < kLayerBlocks; ++i) {
    if (has.at(i))
      table.columns.push_back(
          Col{"", std::string(LayerBlockId(static_cast<LayerBlock>(i))), kDuration}
              .ScreenOnly()
              .Adds()
              .UnitGroup(1)
              .GivesWay());
  }
  for (const PhaseLayers& phase : layers.phases) {
    for (const LayerRow& layer : phase.layers) {
      std::vector<Cell> cells = {std::string(PhaseName(phase.phase)),
                                 CountCell(layer.index),
                                 layer.kind,
                                 CountCell(phase.steps),
                                 layer.device.ns,
                                 layer.gap.ns,
                                 MeanOf(layer.device, phase.steps),
                                 MeanOf(layer.gap, phase.steps)};
      auto block = layer.blocks.begin();
      for (size_t i = 0; i < kLayerBlocks; ++i) {
        if (!has.at(i)) continue;
        const bool own = block != layer.blocks.end() && static_cast<size_t>(block->block) == i;
        cells.push_back(own ? MeanOf(block->device, phase.steps) : Cell());
        if (own) ++block;
      }
      table.Add(std::move(cells));
    }
  }
  return table;
}

}  // namespace tacho
