#pragma once

#include <limits>

#include "analysis/device/launches.h"
#include "analysis/steps/steps.h"
#include "base/time.h"
#include "model/trace.h"

namespace tacho {

// Windows of an export: all times that a reader accepts, and no time.
inline constexpr Interval kAllTime{{std::numeric_limits<int64_t>::min() / 2},
                                   {std::numeric_limits<int64_t>::max() / 2}};
inline constexpr Interval kNoTime{kAllTime.end, kAllTime.end};

// A slice is part of an export if it touches the window; a slice without a duration, if it starts
// in it.
inline bool TouchesWindow(Interval when, Interval window) {
  return when.empty() ? window.contains(when.start) : !when.Clip(window).empty();
}

// Whether any slice touches the window. Cost: O(n) at most.
bool HasSlices(const Trace& trace, Interval window);

// From the start of a step on the host until the step and the GPU work launched in it are over.
// Cost: O(n).
Interval WindowOfStep(const Trace& trace, const LaunchLinks& links, const Step& step);

}  // namespace tacho
