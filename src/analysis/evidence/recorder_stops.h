#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Whether the recorder of calls stopped early, or began late, while other recorders of the process
// went on. The sign: ranges of a kind that always had calls inside go on without calls.
//
// A range is an annotation or an operator on a thread with calls; its kind is its name without
// digits. A kind is a witness if at least 3 of its ranges contain calls, and none lacks calls while
// calls were recorded. If at least 3 annotations of witness kinds lie after the last call and
// device work (or before the first), the recording of calls ended (or began) there, not the
// engine's work.
//
// Operators need more evidence: at least 8 of their ranges must lie on that side. These must be of
// at least 3 witness kinds, and of at least two thirds of the operators' witness kinds. The reason:
// some operators that launch kernels also run on host tensors before and after the model, without
// calls. Most of the model's operators run only in the model.
struct RecorderStops {
  std::optional<TimeNs> stopped;  // the end of the last call, or of the last device work if later
  std::optional<TimeNs> began;    // the start of the first call, or of device work if earlier
  // Number of ranges of witness kinds after `stopped`, and before `began`: of annotations if these
  // show the stop, else of operators.
  uint64_t after = 0, before = 0;
  std::string witness;  // the kind with the most of these ranges
  // Like `stopped` and `began`, but on weaker evidence: a kind is a witness from 2 ranges with
  // calls, and ranges of 2 witness kinds beyond this time are enough. That is too little to report
  // a stop, but a step that reaches beyond this time does not count as whole. Not written into
  // results.
  std::optional<TimeNs> may_have_stopped, may_have_begun;

  [[nodiscard]] bool any() const { return stopped || began; }
  // How much of `window` lies before `began` or after `stopped`.
  [[nodiscard]] DurationNs outside(Interval window) const {
    const TimeNs from = std::max(window.start, began.value_or(window.start));
    const TimeNs until = std::min(window.end, stopped.value_or(window.end));
    return window.length() - Interval{from, std::max(from, until)}.length();
  }
};
// Cost: O(n) for all calls, and for the ranges of threads that go on without calls.
RecorderStops FindRecorderStops(const TrackIndex& index);

}  // namespace tacho
