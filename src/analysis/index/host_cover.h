#pragma once

#include <optional>
#include <vector>

#include "analysis/index/host_tree.h"

namespace tacho {

// A stretch of time on a host track.
struct HostStretch {
  TrackId track;
  Interval when;
};

// The tree of the host slices that touch one of `stretches`. The slices left out cover nothing of
// these and do not change how the others nest: a slice that has ended before an instant does not
// close a slice that is still open at that instant. Cost: O(k log n) for k slices.
HostTree SlicesAround(const TrackIndex& index, const std::vector<HostStretch>& stretches);

// The slice of `tree` that covers most of `stretch`, each instant charged to the innermost one;
// nullptr when most of it is outside of all.
const HostTree::Node* MainSlice(const HostTree& tree, const HostStretch& stretch);

// For each stretch, the row of the Python frame that its thread was in for most of it: the
// innermost frame of user code that lasts for more than half of the stretch. Built-ins and frames
// of torch or of Python's start do not count. Cost: O(k log n) for k frames that are open in the
// middles of stretches.
std::vector<std::optional<uint32_t>> MainFrames(const TrackIndex& index,
                                                const std::vector<HostStretch>& stretches);

}  // namespace tacho
