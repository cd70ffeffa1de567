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

// The tree of the host slices that touch one of `stretches`. Slices that are left out would neither
// cover any of it nor change how the others nest: what ends before an instant closes nothing that
// is still open then. Cost: O(k log n) for k slices.
HostTree SlicesAround(const TrackIndex& index, const std::vector<HostStretch>& stretches);

// The slice of `tree` that covers most of `stretch`, each instant charged to the innermost one;
// nullptr when most of it is outside of all.
const HostTree::Node* MainSlice(const HostTree& tree, const HostStretch& stretch);

// For each stretch the row of the Python frame that its thread was in for most of it: of the frames
// of user code that last for more than half of it the innermost one. Built-ins and what is of torch
// or of Python's start do not count. Cost: O(k log n) for k frames that
// are open in the middles of stretches.
std::vector<std::optional<uint32_t>> MainFrames(const TrackIndex& index,
                                                const std::vector<HostStretch>& stretches);

}  // namespace tacho
