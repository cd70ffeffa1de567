#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/compare/change.h"
#include "analysis/layers/layer_blocks.h"

namespace tacho {

// The change of one block of the model in the steps of a phase. Times are means per step at equal
// batch; layers/batch_blocks.h says what they are.
struct BlockChange {
  struct Layer {
    uint32_t index = 0;
    Change device;
  };
  LayerBlock block = LayerBlock::kOther;
  Change device, gap, overlap;
  uint32_t layers = 0;         // how many layers have the block, on either side
  std::vector<Layer> changed;  // layers whose device time changed beyond noise

  // One layer, or a few, that make most of the change, or that changed though the block as a whole
  // is within noise; empty if many layers changed.
  [[nodiscard]] std::vector<Layer> OddLayers() const;
  [[nodiscard]] bool IsBeyondNoise() const {
    return device.IsBeyondNoise() || !OddLayers().empty();
  }
};

// The changes of all blocks in the steps of a phase.
struct BlocksChange {
  bool other_layers = false;        // the sides have other numbers of layers
  std::string cannot_tell;          // why blocks are not compared; then nothing else is set
  std::array<uint64_t, 2> steps{};  // by side: steps in batches that both sides have
  Change span, device, gap, overlap, work;
  std::vector<BlockChange> blocks;  // largest difference of device time first

  [[nodiscard]] bool compared() const { return cannot_tell.empty() && steps[0] > 0; }
};

}  // namespace tacho
