#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Whether one recorder stopped, or began late, while others of the same process went on: calls end,
// and ranges that had always held calls go on without any.
//
// A range is an annotation or an operator on a thread with calls; its kind is its name without
// digits. A kind is a witness if at least 3 of its ranges held calls, and none was without calls
// while calls were recorded. If 3 ranges of witnesses lie after the last call (or before the
// first), the calls ended (or began) with their recording, not with the engine's work. For
// operators it takes 8 ranges, of at least 3 kinds and of two thirds of all witnesses: operators
// that launch kernels also run on tensors of the host before and after the model, but most of the
// model's do not.
struct RecorderStops {
  std::optional<TimeNs> stopped;   // the end of the last call
  std::optional<TimeNs> began;     // the start of the first call
  uint64_t after = 0, before = 0;  // ranges of witnesses after `stopped`, before `began`
  std::string witness;             // the kind of most of them
  // `stopped` and `began` on weaker evidence: ranges of 2 kinds that held calls twice. Too few to
  // report a stop, but enough not to take a step that reaches there for a whole one. Not in
  // results.
  std::optional<TimeNs> may_have_stopped, may_have_begun;

  [[nodiscard]] bool any() const { return stopped || began; }
  // How much of `window` lies before the recording or after it.
  [[nodiscard]] DurationNs outside(Interval window) const {
    const TimeNs from = std::max(window.start, began.value_or(window.start));
    const TimeNs until = std::min(window.end, stopped.value_or(window.end));
    return window.length() - Interval{from, std::max(from, until)}.length();
  }
};
// Cost: O(n) over calls, and over the ranges of threads that go on without calls.
RecorderStops FindRecorderStops(const TrackIndex& index);

}  // namespace tacho
