#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/layers/layer_table.h"
#include "view/computed_rows.h"

namespace tacho {

// The model's layers and blocks in each step, as slices. A slice goes from the first to the last
// nanosecond of its work, gaps inside it included. The slices of one step do not overlap, and each
// block lies inside its layer. A block that occurs twice in a layer, such as its norms, has two
// slices. Work that overlaps other work is charged as BlockTime says, so a slice may be empty; the
// rows do not show it. Nothing is kept of a trace without layers.
class LayerRows {
 public:
  // Adds the slices to `slices`. Both use Palette::kBlocks; a layer has the colour of its mixer.
  // Cost: that of FindLayers. Memory: 40 bytes a block slice, 4 bytes a piece of device work (20 on
  // a CPU engine).
  void Add(const PreparedTrace& prepared, ComputedSlices& slices);

  [[nodiscard]] const LayerTable& table() const { return table_; }
  // By device; all slices, also empty ones, in the order of steps. Empty if there are no layers.
  struct OfDevice {
    ComputedRow layers, blocks;
  };
  [[nodiscard]] const std::vector<OfDevice>& of_device() const { return of_device_; }

  // The work of a block slice.
  struct Run {
    uint32_t step = 0, layer = 0;  // as BlockRun says
    LayerBlock block = LayerBlock::kOther;
    uint32_t first_piece = 0;
    DurationNs device, gap;  // what is charged to it
  };
  struct Runs {
    uint32_t first = 0, last = 0;  // [first, last)
  };
  // The runs of a slice: one for a block, one or more for a layer. `row`: in ComputedSlices::table.
  // nullopt for any other slice.
  [[nodiscard]] std::optional<Runs> RunsOf(uint32_t row) const;
  [[nodiscard]] const Run& operator[](uint32_t run) const { return runs_[run]; }
  [[nodiscard]] bool IsLayer(uint32_t row) const { return row >= first_layer_; }
  // All runs of the same step and device as `run`.
  [[nodiscard]] Runs StepOf(uint32_t run) const;

  // The name and the colour of a layer's slices.
  [[nodiscard]] std::string_view NameOf(uint32_t layer) const { return names_[layer]; }
  [[nodiscard]] uint8_t ColorOf(uint32_t layer) const { return colors_[layer]; }

  // The pieces of a run: `rows` as WorkItem::row; `times`: the time that is charged to each, only
  // on a CPU engine.
  struct Pieces {
    std::span<const uint32_t> rows;
    std::span<const Interval> times;
  };
  [[nodiscard]] Pieces PiecesOf(uint32_t run) const;
  // Whether pieces are of a CPU engine.
  [[nodiscard]] bool on_host() const { return !times_.empty(); }
  [[nodiscard]] size_t MemoryBytes() const;

 private:
  std::vector<size_t> AddLayers(const std::vector<size_t>& blocks, ComputedSlices& slices);

  LayerTable table_;
  std::vector<OfDevice> of_device_;
  std::vector<Run> runs_;
  std::vector<std::string> names_;  // by layer
  std::vector<uint8_t> colors_;
  std::vector<Runs> layers_;                    // the runs of each layer slice
  std::vector<uint32_t> steps_;                 // the first run of each step and device
  std::vector<uint32_t> pieces_;                // rows
  std::vector<Interval> times_;                 // by piece; empty unless on a CPU engine
  uint32_t first_block_ = 0, first_layer_ = 0;  // rows of the first slices
};

// LayerBlockId, but "other work" for kOther, because steps have slices with the name "other".
std::string_view BlockSliceName(LayerBlock block);

}  // namespace tacho
