#pragma once

#include <functional>

#include "analysis/ops.h"

namespace tacho {

// What goes into a tree besides the slices that BuildHostTree takes.
struct NestOptions {
  bool python_frames = false;
  // Slices that are to stay out; nothing stays out when it is empty. Called once for each slice.
  std::function<bool(SliceKind, const SliceTable&, uint32_t row)> leave_out = {};
};

// The tree behind BuildHostTree, for analyses that look at more or fewer slices than it does.
// Cost: O(n) when each table is in the order of time on each track, else its sort.
HostTree NestHostSlices(const Trace& trace, const NestOptions& options);

}  // namespace tacho
