#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/layers/step_layers.h"
#include "analysis/prepared_trace.h"

namespace tacho {

// Where in the model each row of Trace::gpu is. Cost: 8 bytes a row of a trace with layers.
class RowPlaces {
 public:
  static constexpr uint32_t kOutside = 0xffffff;  // of all layers
  struct Place {
    uint32_t layer : 24 = kOutside;
    LayerBlock block : 8 = LayerBlock::kCount;  // kCount: not in a step that has layers

    bool operator==(const Place&) const = default;
  };

  // `layers`: LayersOfSteps for this trace.
  RowPlaces(const PreparedTrace& prepared, const LayeredSteps& layers);
  [[nodiscard]] Place Of(uint32_t row) const { return places_.empty() ? Place{} : places_[row]; }

  // What several rows have in common. Rows that are nowhere do not count.
  class Common {
   public:
    void Add(Place place) {
      if (place.block == LayerBlock::kCount) return;
      const bool first = first_.block == LayerBlock::kCount;
      if (first) first_ = place;
      one_layer_ = one_layer_ && place.layer == first_.layer;
      one_block_ = one_block_ && place.block == first_.block;
    }
    [[nodiscard]] std::optional<uint32_t> layer() const {
      return one_layer_ && first_.layer != kOutside ? std::optional(uint32_t{first_.layer})
                                                    : std::nullopt;
    }
    [[nodiscard]] std::optional<LayerBlock> block() const {
      const LayerBlock block = first_.block;
      return one_block_ && block != LayerBlock::kCount ? std::optional(block) : std::nullopt;
    }

   private:
    Place first_;
    bool one_layer_ = true, one_block_ = true;
  };

 private:
  std::vector<Place> places_;  // by row; empty without layers
};

}  // namespace tacho
