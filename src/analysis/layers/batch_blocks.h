#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/layers/layer_blocks.h"
#include "analysis/steps/step_batch.h"
#include "base/time.h"

namespace tacho {

// A figure of several steps. `deviation`: its standard deviation from step to step; 0 for a single
// step.
struct StepFigure {
  DurationNs total, deviation;
};

// How the time of steps is spent. `device` and `gap` add up to `span`, the time from the first to
// the last work of the step: each nanosecond of it belongs to the running work that began first
// or, if nothing runs, to the gap before the next work. `device` and `overlap` add up to `work`,
// the durations of all work: during `overlap`, work that began earlier ran, too.
struct StepFigures {
  StepFigure span, device, gap, overlap, work;
};

// One block of the model in the steps of a batch. Its figures add up to those of the steps.
struct BatchBlock {
  LayerBlock block = LayerBlock::kOther;
  StepFigure device, gap, overlap;
  // Device time by layer of the model, and its deviations; empty for a block outside of layers.
  std::vector<DurationNs> layers, layer_deviations;
};

// The steps of one group of batches.
struct BatchBlocks {
  StepBatch batch;
  uint64_t steps = 0;
  StepFigures whole;
  std::vector<BatchBlock> blocks;  // in the order of LayerBlock
};

// Whether figures that were read from JSON are consistent: those of the blocks add up to those of
// the steps, and each block has as many layers as deviations.
bool IsConsistent(const BatchBlocks& batch);

// Adds up the work of the steps of one group of batches, step by step.
class BatchBlockSums {
 public:
  explicit BatchBlockSums(size_t layers) : cells_(layers + 1) {}

  struct Cell {
    DurationNs device, gap;
    uint64_t count = 0;  // pieces of work
    double squares = 0;  // of the device time in a step; only inside of layers
  };
  using Cells = std::array<Cell, kLayerBlocks>;

  // Adds a piece of work to the current step. `layer`: its index; the number of layers if the piece
  // is outside of them. The pieces of a layer follow each other.
  void Add(size_t layer, LayerBlock block, DurationNs device, DurationNs gap, DurationNs overlap) {
    if (layer != layer_) EndLayer();
    layer_ = layer;
    const auto at = static_cast<size_t>(block);
    in_layer_blocks_ |= uint32_t{1} << at;
    InLayer& of = in_layer_[at];
    of.device += device;
    of.gap += gap;
    of.overlap += overlap;
    ++of.count;
  }
  void EndStep();

  // By layer; the last entry is outside of them.
  [[nodiscard]] const std::vector<Cells>& cells() const { return cells_; }
  [[nodiscard]] BatchBlocks Finish(const StepBatch& batch) const;

 private:
  struct Sum {
    DurationNs total;
    double squares = 0;
    void Add(DurationNs ns);
    [[nodiscard]] StepFigure Of(uint64_t steps) const;
  };
  struct Sums {
    Sum device, gap, overlap;
  };
  struct InStep {
    DurationNs device, gap, overlap;
  };
  struct InLayer : InStep {
    uint64_t count = 0;
  };
  void EndLayer();

  std::vector<Cells> cells_;
  std::array<Sums, kLayerBlocks> blocks_{};
  Sum span_, device_, gap_, overlap_, work_;
  uint64_t steps_ = 0;
  // Of the current step, and of its current layer.
  std::array<InStep, kLayerBlocks> in_step_{};
  std::array<InLayer, kLayerBlocks> in_layer_{};
  uint32_t in_layer_blocks_ = 0;  // a bit for each block that the layer has
  static_assert(kLayerBlocks <= 32);
  size_t layer_ = 0;
};

}  // namespace tacho
