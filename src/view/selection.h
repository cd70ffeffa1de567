#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "view/lane.h"

namespace tacho {

// The slices in a window that have the same name, table and kind. So a host annotation and its copy
// on the device are two entries, and so are a kernel and a memory copy of the same name.
struct NameTotal {
  std::string_view name;  // lives as long as the lanes
  uint8_t color = 0;
  uint64_t count = 0;  // slices that touch the window
  DurationNs total;    // sum of their parts inside the window
  DurationNs longest;  // whole duration of the longest slice
  // Where the longest slice is: the index of its lane in `lanes`, and its place in that lane. If
  // several are equally long, the first.
  size_t lane = 0, place = 0;
};
// Sorted by total time, longest first, then by name. A slice inside another one counts in both.
// Cost: O(slices in the window).
std::vector<NameTotal> TotalsByName(std::span<const Lane* const> lanes, Interval window);

// A node of the flame graph of a thread in a window: all slices with the same name, inside slices
// with the same names.
struct FlameNode {
  std::string_view name;  // "" for the root
  uint8_t color = 0;
  uint32_t parent = 0;  // index of the parent, which comes before its children
  uint64_t count = 0;
  DurationNs total;  // inside the window, with children
  // The time inside the window, without children. 0 if the children overlap and take longer than
  // the node.
  DurationNs self;
};
// The nodes; [0] is the root, whose total is the sum of its children's totals. `lanes`: the lanes
// of one row from the top; slices nest as in model/nesting.h. Leaves out nodes with a total below
// `least`, with all their children; their time counts as self time of their parent. Returns an
// empty list, without a root, if the window has more than `most` slices. Cost: O(n log n) for n
// slices in the window.
inline constexpr size_t kMostFlameSlices = 4'000'000;
std::vector<FlameNode> FlameGraph(std::span<const Lane> lanes, Interval window, DurationNs least,
                                  size_t most = kMostFlameSlices);

// Leaves out nodes with a total below `least`, with all their children, and computes the self times
// and the total of the root.
std::vector<FlameNode> PrunedFlame(const std::vector<FlameNode>& all, DurationNs least);

// A name that a search found, and its slices.
struct NameHits {
  std::string_view name;
  uint64_t count = 0;
  size_t lane = 0, place = 0;  // where the earliest is: index in `lanes`, and place there
};
// Finds the slices whose name contains `text`, ignoring case, and groups them by name, the most
// frequent first. Returns at most `most` names; `total` gets the number of all slices found. An
// empty text finds nothing. Cost: O(all slices).
std::vector<NameHits> Search(std::span<const Lane* const> lanes, std::string_view text, size_t most,
                             uint64_t& total);

// The next slice after `from` (the previous one if `forward` is false) whose name contains `text`.
// Slices are ordered by start, then by lane. nullopt if there is no such slice. To continue a
// search, pass the start and the lane of the slice found as `from`.
struct FoundSlice {
  size_t lane = 0, place = 0;
};
struct SearchPlace {
  TimeNs at;
  size_t lane = 0;  // index in `lanes` of the slice at `at`
};
std::optional<FoundSlice> FindNext(std::span<const Lane* const> lanes, std::string_view text,
                                   SearchPlace from, bool forward);

}  // namespace tacho
