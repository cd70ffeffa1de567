#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "view/place.h"
#include "view/selection.h"

namespace tacho {

// Functions that go from one step, slice or gap of a run to the next. Times are on the run's clock.
// `rank`: look only at this rank.

// The first step that starts after `from`, or, if `forward` is false, the last one that starts
// before it.
std::optional<PlacedSlice> NextStep(const ReadRanks& ranks, TimeNs from, bool forward,
                                    std::optional<uint32_t> rank = {});
// The step with this number, counted from 1. Without `rank`, the step of the first rank that has
// it.
std::optional<PlacedSlice> StepByNumber(const ReadRanks& ranks, size_t number,
                                        std::optional<uint32_t> rank = {});

// The first slice of a row that starts after `from`, or, if `forward` is false, the last one that
// starts before it. `lane`: look only at this lane; without it, if several slices start together,
// takes the one in the uppermost lane.
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
// Among LongestRunGaps, the first gap that starts after `from`, or, if `forward` is false, the last
// one that starts before it.
std::optional<RunGap> NextGap(const ReadRanks& ranks, TimeNs from, bool forward,
                              std::optional<uint32_t> rank = {});
// Where the gap is shown: the slice at the gap's start in the device's row of idle time. `when` of
// the result is the whole gap.
PlacedSlice PlaceOfGap(const ReadRanks& ranks, const RunGap& gap);

// The slices of one name that a search found.
struct RunHits {
  std::string_view name;  // whole
  uint64_t count = 0;
  PlacedSlice first;  // the earliest; of equals, the one in the first rank
};
struct RunSearch {
  uint64_t total = 0;
  std::vector<RunHits> names;  // most frequent first
};
// Search (selection.h) over all rows of all ranks, or of `rank`.
RunSearch SearchRun(const ReadRanks& ranks, std::string_view text, size_t most,
                    std::optional<uint32_t> rank = {});
// The next hit after `from`, or, if `forward` is false, the one before it. To go on from a hit,
// pass it as `after` and its start as `from`: other hits with the same start are then not skipped.
std::optional<PlacedSlice> NextHit(const ReadRanks& ranks, std::string_view text, TimeNs from,
                                   bool forward, std::optional<uint32_t> rank = {},
                                   std::optional<SlicePlace> after = {});

}  // namespace tacho
