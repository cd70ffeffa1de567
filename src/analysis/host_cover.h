#pragma once

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

// The name of the slice of `tree` that covers most of `stretch`, each instant charged to the
// innermost one; empty when most of it is outside of all.
StringId MainSlice(const HostTree& tree, const HostStretch& stretch);

}  // namespace tacho
