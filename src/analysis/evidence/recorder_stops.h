#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Whether the recorder of calls stopped early, or began late, while other recorders of the process
// went on. The sign is that ranges which had always contained calls go on without any.
//
// A range is an annotation or an operator on a thread with calls; its kind is its name without
// digits. A kind is a witness if at least 3 of its ranges contain calls, and none lacks calls while
// calls were recorded. If 3 annotations of witness kinds lie after the last call and device work
// (or before the first), the recording of calls ended (or began) there, not the engine's work.
// Operators need more evidence: 8 ranges, of at least 3 kinds, and of two thirds of all witness
// kinds. The reason is that operators that launch kernels also run on host tensors before and after
// the model, but most of the model's operators do not.
struct RecorderStops {
  std::optional<TimeNs> stopped;  // the end of the last call, or of the last device work if later
  std::optional<TimeNs> began;    // the start of the first call, or of device work if earlier
  // Number of ranges of witness kinds after `stopped`, and before `began`.
  uint64_t after = 0, before = 0;
  std::string witness;  // the kind with the most of these ranges
  // As `stopped` and `began`, on weaker evidence: it is enough that ranges of 2 kinds lie there,
  // and that 2 ranges of each kind contain calls. This is too little to report a stop, but a step
  // that reaches beyond is not taken for a whole one. Not written into results.
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
