#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "view/place.h"
#include "view/selection.h"

namespace tacho {

// Functions that go from one step, slice or gap of a run to the next. Times are on the run's clock.
// `rank`: look only at this rank.

// The step after `from` (before, where `forward` is false) in the order of their starts.
std::optional<PlacedSlice> NextStep(const ReadRanks& ranks, TimeNs from, bool forward,
                                    std::optional<uint32_t> rank = {});
// The step of this number, counted from 1. Without `rank`: of the first rank that has it.
std::optional<PlacedSlice> StepByNumber(const ReadRanks& ranks, size_t number,
                                        std::optional<uint32_t> rank = {});

// The slice of a row after `from` (before, if `forward` is false). `lane`: look only at this lane.
// Without it, of several slices that start together, the one in the upper lane.
std::optional<PlacedSlice> NextSlice(const ReadRanks& ranks, uint32_t rank, uint32_t row,
                                     TimeNs from, bool forward, std::optional<uint32_t> lane = {});

// One of the longest idle gaps.
struct RunGap {
  uint32_t rank = 0;
  Interval when;
  const IdleGap* gap = nullptr;  // lives as long as the rank
};
// The RankRows::kMostGaps longest idle gaps of all ranks, longest first, then by start and rank.
std::vector<RunGap> LongestRunGaps(const ReadRanks& ranks, std::optional<uint32_t> rank = {});
// The next gap in time among LongestRunGaps.
std::optional<RunGap> NextGap(const ReadRanks& ranks, TimeNs from, bool forward,
                              std::optional<uint32_t> rank = {});
// The slice where the gap begins, in the device's row of idle time, but with the time of the whole
// gap.
PlacedSlice PlaceOfGap(const ReadRanks& ranks, const RunGap& gap);

// Slices of one name that a search found.
struct RunHits {
  std::string_view name;  // whole
  uint64_t count = 0;
  PlacedSlice first;  // the first by time; of equals, the one of the first rank
};
struct RunSearch {
  uint64_t total = 0;
  std::vector<RunHits> names;  // most frequent first
};
// Search (selection.h) over all rows of all ranks, or of `rank`.
RunSearch SearchRun(const ReadRanks& ranks, std::string_view text, size_t most,
                    std::optional<uint32_t> rank = {});
// The hit after `from`. `after`: the hit from which to go on, so that no other hit that starts at
// `from` is skipped.
std::optional<PlacedSlice> NextHit(const ReadRanks& ranks, std::string_view text, TimeNs from,
                                   bool forward, std::optional<uint32_t> rank = {},
                                   std::optional<SlicePlace> after = {});

}  // namespace tacho
