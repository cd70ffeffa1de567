#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "analysis/device/idle_table.h"
#include "view/viewed_run.h"

namespace tacho {

// A gap: the whole idle time between two pieces of a device's work. At least a part of it lies in
// the window.
struct WindowGap {
  uint32_t rank = 0;
  std::string_view device = {};           // lives as long as the rank
  Interval when;                          // on the run's clock
  IdleCause cause = IdleCause::kUnknown;  // the cause of the largest part
  DurationNs inside;                      // the part inside the window
};
struct WindowGaps {
  uint64_t count = 0;  // how many gaps touch the window
  // Sorted by the part inside the window, longest first, then by start and rank.
  std::vector<WindowGap> longest = {};
};
// The `most` longest gaps of all ranks, or of `rank`. Cost: O(idle slices in the window); memory:
// O(most).
WindowGaps LongestGapsIn(const ReadRanks& ranks, Interval window, size_t most,
                         std::optional<uint32_t> rank = {});

}  // namespace tacho
