#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "view/viewed_run.h"

namespace tacho {

// Where a slice is shown. `place` is its index in the lane. Stays valid while the run lives.
struct SlicePlace {
  uint32_t rank = 0, row = 0, lane = 0, place = 0;
  bool operator==(const SlicePlace&) const = default;
};

// A slice with its time on the run's clock and the name that its tile shows.
struct PlacedSlice {
  SlicePlace at;
  Interval when;
  std::string_view name = {};  // lives as long as the rank
};

// The lane at `at`; null if there is no such rank, row, lane or place.
const Lane* FindLane(const ReadRanks& ranks, SlicePlace at);
std::optional<PlacedSlice> SliceAt(const ReadRanks& ranks, SlicePlace at);

// Finds where a slice of a trace's table, or a step (by its number), is shown. nullopt: nowhere.
// Cost: O(l log n) for a row with l lanes.
std::optional<PlacedSlice> FindSlice(const ReadRanks& ranks, uint32_t rank, SliceRef slice);

// The deepest slice of the row that covers `t`. If none does, the nearest slice; of equally near
// ones, the uppermost. `lane`: look only at this lane. nullopt if there is no slice.
std::optional<PlacedSlice> SliceNear(const ReadRanks& ranks, uint32_t rank, uint32_t row, TimeNs t,
                                     std::optional<uint32_t> lane = {});

}  // namespace tacho
