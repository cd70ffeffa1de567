#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view/lane.h"

namespace tacho {

// Slices of one name, table and kind in a window: a host annotation and the device's copy of it
// count as two, and so do a kernel and a memory copy of one name.
struct NameTotal {
  std::string_view name;  // lives as long as the lanes
  uint8_t color = 0;
  uint64_t count = 0;  // slices that touch the window
  DurationNs total;    // of their parts inside it
  DurationNs longest;  // of a whole slice
  size_t lane = 0,
         place = 0;  // of the longest, the first of equals: index into `lanes`, place in it
};
// By total, longest first, then name. A slice in another one counts in both. Cost: O(slices in the
// window).
std::vector<NameTotal> TotalsByName(std::span<const Lane* const> lanes, Interval window);

// The flame graph of a thread in a window: slices with the same name and the same names around them
// are one node.
struct FlameNode {
  std::string_view name;  // "" of the root
  uint8_t color = 0;
  uint32_t parent = 0;  // index; comes before its children
  uint64_t count = 0;
  DurationNs total;  // inside the window, children included
  DurationNs self;   // without children; 0 if these overlap and so take longer than the node
};
// [0] is the root; its total is the sum of its children's totals. `lanes`: of one row, from the
// top; slices nest as in model/nesting.h. Leaves out nodes with less than `least`, with all their
// children; their time counts as their parent's self time. Returns an empty list, without a root,
// if the window has more than `most` slices. Cost: O(n log n) for n slices in the window.
inline constexpr size_t kMostFlameSlices = 4'000'000;
std::vector<FlameNode> FlameGraph(std::span<const Lane> lanes, Interval window, DurationNs least,
                                  size_t most = kMostFlameSlices);

// Where a name was found.
struct NameHits {
  std::string_view name;
  uint64_t count = 0;
  size_t lane = 0, place = 0;  // of the first by time: index into `lanes`, place in it
};
// The slices with `text` in their name, in upper or lower case, by name: most frequent first, at
// most `most` names; `total` gets the number of all slices found. An empty text finds nothing.
// Cost: O(all slices).
std::vector<NameHits> Search(std::span<const Lane* const> lanes, std::string_view text, size_t most,
                             uint64_t& total);

// The next slice after `from` (the previous one if `forward` is false) whose name contains `text`.
// Slices are ordered by start, then by lane. nullopt if there is no such slice. To continue, pass
// the slice found as `from`.
struct FoundSlice {
  size_t lane = 0, place = 0;
};
struct SearchPlace {
  TimeNs at;
  size_t lane = 0;  // the lane of the slice to go on from
};
std::optional<FoundSlice> FindNext(std::span<const Lane* const> lanes, std::string_view text,
                                   SearchPlace from, bool forward);

}  // namespace tacho
