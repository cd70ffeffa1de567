#pragma once

#include <limits>

#include "analysis/device/launches.h"
#include "analysis/steps/steps.h"
#include "base/time.h"
#include "model/trace.h"

namespace tacho {

// Two windows for an export: one with all times that a reader accepts, one with no time.
inline constexpr Interval kAllTime{{std::numeric_limits<int64_t>::min() / 2},
                                   {std::numeric_limits<int64_t>::max() / 2}};
inline constexpr Interval kNoTime{kAllTime.end, kAllTime.end};

// A slice is exported if it overlaps the window; a slice without a duration, if it starts inside.
inline bool TouchesWindow(Interval when, Interval window) {
  return when.empty() ? window.contains(when.start) : !when.Clip(window).empty();
}

// Whether any slice overlaps the window. Cost: at most O(n).
bool HasSlices(const Trace& trace, Interval window);

// The window from the start of a step on the host to the end of the step or of the last GPU work
// launched in it, whichever is later. Cost: O(n).
Interval WindowOfStep(const Trace& trace, const LaunchLinks& links, const Step& step);

}  // namespace tacho
