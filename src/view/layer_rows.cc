#include "view/layer_rows.h"

#include <algorithm>

#include "analysis/layers/block_runs.h"

namespace tacho {

std::string_view BlockSliceName(LayerBlock block) {
  // All slices of one name have the same colour.
  return block == LayerBlock::kOther ? "other work" : LayerBlockId(block);
}

void LayerRows::Add(const PreparedTrace& prepared, ComputedSlices& slices) {
  first_block_ = static_cast<uint32_t>(slices.table.size());
  std::vector<size_t> blocks(prepared.work.devices.size());
  const LayeredSteps found = LayersOfSteps(prepared);
  table_ = FindLayers(prepared, found);
  EachBlockRun(found, [&](const BlockRun& run) {
    size_t& of_device = blocks[static_cast<size_t>(run.of->device - prepared.work.devices.data())];
    if (runs_.empty() || runs_.back().step != run.of->step || of_device == 0)
      steps_.push_back(static_cast<uint32_t>(runs_.size()));
    ++of_device;
    runs_.push_back({run.of->step, run.layer, run.block, static_cast<uint32_t>(pieces_.size()),
                     run.charged, run.gap});
    for (const uint32_t item : run.items) pieces_.push_back(run.of->device->items[item].row);
    if (prepared.work.on_host) times_.insert(times_.end(), run.times.begin(), run.times.end());
    slices.Add(run.when, BlockSliceName(run.block), ColorOfBlock(run.block));
  });
  first_layer_ = static_cast<uint32_t>(slices.table.size());
  if (runs_.empty()) return;
  std::vector<size_t> layers = AddLayers(blocks, slices);
  uint32_t block = first_block_, layer = first_layer_;
  for (size_t device = 0; device < blocks.size(); ++device) {
    of_device_.push_back({ComputedRow(layer, layers[device]), ComputedRow(block, blocks[device])});
    block += static_cast<uint32_t>(blocks[device]);
    layer += static_cast<uint32_t>(layers[device]);
  }
}

// Adds a slice for each layer of each step. Returns their number by device.
std::vector<size_t> LayerRows::AddLayers(const std::vector<size_t>& blocks,
                                         ComputedSlices& slices) {
  colors_.resize(table_.count);
  for (uint32_t i = 0; i < table_.count; ++i) names_.push_back("layer " + std::to_string(i));
  std::vector<size_t> layers;
  uint32_t run = 0, end = 0;
  for (const size_t of_device : blocks) {
    end += static_cast<uint32_t>(of_device);
    layers.push_back(0);
    while (run < end) {
      const uint32_t first = run, layer = runs_[run].layer;
      const uint32_t step_end = StepOf(run).last;
      while (run < step_end && runs_[run].layer == layer) {
        const LayerBlock block = runs_[run++].block;
        const bool mixer = block == LayerBlock::kAttention || block == LayerBlock::kStateSpace;
        if (mixer && layer < table_.count) colors_[layer] = ColorOfBlock(block);
      }
      if (layer == BlockRun::kOutside) continue;
      const Interval when{slices.table.When(first_block_ + first).start,
                          slices.table.When(first_block_ + run - 1).end};
      slices.Add(when, names_[layer], colors_[layer]);
      layers_.push_back({first, run});
      ++layers.back();
    }
  }
  return layers;
}

std::optional<LayerRows::Runs> LayerRows::RunsOf(uint32_t row) const {
  if (row < first_block_) return std::nullopt;
  const uint32_t run = row - first_block_, layer = row - first_layer_;
  if (run < runs_.size()) return Runs{run, run + 1};
  return layer < layers_.size() ? std::optional(layers_[layer]) : std::nullopt;
}

LayerRows::Runs LayerRows::StepOf(uint32_t run) const {
  const auto next = std::ranges::upper_bound(steps_, run);
  return {*(next - 1), next == steps_.end() ? static_cast<uint32_t>(runs_.size()) : *next};
}

LayerRows::Pieces LayerRows::PiecesOf(uint32_t run) const {
  const size_t first = runs_[run].first_piece;
  const size_t last = run + 1 < runs_.size() ? runs_[run + 1].first_piece : pieces_.size();
  Pieces pieces{std::span(pieces_).subspan(first, last - first), {}};
  if (!times_.empty()) pieces.times = std::span(times_).subspan(first, last - first);
  return pieces;
}

size_t LayerRows::MemoryBytes() const {
  return runs_.size() * sizeof(Run) + layers_.size() * sizeof(Runs) +
         (steps_.size() + pieces_.size()) * sizeof(uint32_t) + times_.size() * sizeof(Interval);
}

}  // namespace tacho
