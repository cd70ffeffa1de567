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
// digits. A kind is a witness if 3 of its ranges or more held calls, and none came without while
// there were calls. Calls ended with the recording, not with the engine's work, where 3 ranges of
// witnesses lie after the last call (before the first one). Of operators it takes 8, of 3 kinds
// and two thirds of all that are witnesses: those that launch kernels also run on tensors of the
// host, before the model and after it, but not most of the model's.
struct RecorderStops {
  std::optional<TimeNs> stopped;   // the end of the last call
  std::optional<TimeNs> began;     // the start of the first
  uint64_t after = 0, before = 0;  // ranges of witnesses there
  std::string witness;             // the kind of most of them
  // The same where ranges of 2 kinds that held calls twice lie there: too few to say so, enough not
  // to take a step that lasts there for a whole one. Not in results.
  std::optional<TimeNs> may_have_stopped, may_have_begun;

  [[nodiscard]] bool any() const { return stopped || began; }
  // What lies before the recording or after it.
  [[nodiscard]] DurationNs outside(Interval window) const {
    const TimeNs from = std::max(window.start, began.value_or(window.start));
    const TimeNs until = std::min(window.end, stopped.value_or(window.end));
    return window.length() - Interval{from, std::max(from, until)}.length();
  }
};
// Cost: O(n) over calls, and over the ranges of threads that go on without calls.
RecorderStops FindRecorderStops(const TrackIndex& index);

}  // namespace tacho
