#pragma once

#include <optional>
#include <vector>

#include "analysis/host_nesting.h"

namespace tacho {

// A stretch of time on a host track.
struct HostStretch {
  TrackId track;
  Interval when;
};

// The tree of the host slices that touch one of `stretches`. Slices that are left out would neither
// cover any of it nor change how the others nest: what ends before an instant closes nothing that
// is still open then. Cost: one look at each host slice.
HostTree SlicesAround(const Trace& trace, const std::vector<HostStretch>& stretches);

// The slice of `tree` that covers most of `stretch`, each instant charged to the innermost one;
// nullptr when most of it is outside of all.
const HostTree::Node* MainSlice(const HostTree& tree, const HostStretch& stretch);

// For each stretch the row of the Python frame that its thread was in for most of it: of the frames
// of user code that last for more than half of it the innermost one. Built-ins and what is of torch
// or of Python's start do not count. Cost: one look at each frame.
std::vector<std::optional<uint32_t>> MainFrames(const Trace& trace,
                                                const std::vector<HostStretch>& stretches);

}  // namespace tacho
