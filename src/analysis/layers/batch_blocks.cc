#include "analysis/layers/batch_blocks.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tacho {
namespace {

// The square of a time in ns.
double SquareOf(DurationNs time) {
  return static_cast<double>(time.ns) * static_cast<double>(time.ns);
}

StepFigure FigureOf(DurationNs total, double squares, uint64_t steps) {
  if (steps < 2) return {total, {}};
  const auto n = static_cast<double>(steps);
  const double variance = std::max(0.0, squares - SquareOf(total) / n) / (n - 1);
  return {total, {std::llround(std::sqrt(variance))}};
}

}  // namespace

bool IsConsistent(const BatchBlocks& batch) {
  DurationNs device, gap, overlap;
  for (const BatchBlock& block : batch.blocks) {
    if (block.layers.size() != block.layer_deviations.size()) return false;
    device += block.device.total;
    gap += block.gap.total;
    overlap += block.overlap.total;
  }
  const StepFigures& whole = batch.whole;
  return batch.steps > 0 && device == whole.device.total && gap == whole.gap.total &&
         overlap == whole.overlap.total && device + gap == whole.span.total &&
         device + overlap == whole.work.total;
}

void BatchBlockSums::Sum::Add(DurationNs ns) {
  total += ns;
  squares += SquareOf(ns);
}
StepFigure BatchBlockSums::Sum::Of(uint64_t steps) const { return FigureOf(total, squares, steps); }

void BatchBlockSums::EndLayer() {
  for (; in_layer_blocks_ != 0; in_layer_blocks_ &= in_layer_blocks_ - 1) {
    const auto at = static_cast<size_t>(std::countr_zero(in_layer_blocks_));
    InLayer& of = in_layer_[at];
    Cell& cell = cells_[layer_][at];
    cell.device += of.device;
    cell.gap += of.gap;
    cell.count += of.count;
    cell.squares += SquareOf(of.device);
    InStep& step = in_step_[at];
    step.device += of.device;
    step.gap += of.gap;
    step.overlap += of.overlap;
    of = {};
  }
}

void BatchBlockSums::EndStep() {
  EndLayer();
  InStep all;
  for (size_t i = 0; i < kLayerBlocks; ++i) {
    InStep& step = in_step_[i];
    blocks_[i].device.Add(step.device);
    blocks_[i].gap.Add(step.gap);
    blocks_[i].overlap.Add(step.overlap);
    all.device += step.device;
    all.gap += step.gap;
    all.overlap += step.overlap;
    step = {};
  }
  device_.Add(all.device);
  gap_.Add(all.gap);
  overlap_.Add(all.overlap);
  span_.Add(all.device + all.gap);
  work_.Add(all.device + all.overlap);
  ++steps_;
}

BatchBlocks BatchBlockSums::Finish(const StepBatch& batch) const {
  BatchBlocks of{batch,
                 steps_,
                 {span_.Of(steps_), device_.Of(steps_), gap_.Of(steps_), overlap_.Of(steps_),
                  work_.Of(steps_)},
                 {}};
  for (size_t i = 0; i < kLayerBlocks; ++i) {
    const auto block = static_cast<LayerBlock>(i);
    const bool any =
        std::ranges::any_of(cells_, [&](const Cells& cells) { return cells[i].count > 0; });
    if (!any) continue;
    BatchBlock& row = of.blocks.emplace_back();
    row.block = block;
    row.device = blocks_[i].device.Of(steps_);
    row.gap = blocks_[i].gap.Of(steps_);
    row.overlap = blocks_[i].overlap.Of(steps_);
    if (!IsInLayer(block)) continue;
    for (size_t layer = 0; layer + 1 < cells_.size(); ++layer) {
      const Cell& cell = cells_[layer][i];
      row.layers.push_back(cell.device);
      row.layer_deviations.push_back(FigureOf(cell.device, cell.squares, steps_).deviation);
    }
  }
  return of;
}

}  // namespace tacho
