#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// How a device's clock compares with the host's. Profilers convert device times into host times,
// and may be off by a constant (roctracer), or drift (kineto #1082).
//
// Orders of events that are impossible give bounds on `offset`, where host time = device time +
// offset:
//   - work cannot start before the call that launches it begins: offset >= call.start - work.start;
//   - a call that waits for the device cannot return before the work launched until then has ended,
//     and no work ends after the profiler stopped: offset <= end of the call - end of the work.
// Waiting calls are *DeviceSynchronize and *CtxSynchronize, and, on a device with work on one
// stream only, a *StreamSynchronize of 10 us or more: a wait for another stream would return at
// once. A single waiting call that returned too early, between others that did not, is ignored.
struct DeviceClock {
  std::string device;
  // The first piece of each call's work on this device: how many there are, and how many start
  // before their call began.
  uint64_t launched = 0, before_launch = 0;
  // Waiting calls that had work to wait for, and how many of them returned before it had ended.
  uint64_t waited = 0, after_wait = 0;
  std::optional<DurationNs> least = {}, most = {};  // bounds on a constant offset
  enum class State : uint8_t {
    kRight,   // 0 is within the bounds
    kOff,     // off by a constant
    kDrifts,  // no constant is within the bounds
    kCount,
  };
  State state = State::kRight;
  // `least` from the first and from the last tenth of the recording: a drift within the bounds is
  // no larger than these allow.
  std::optional<DurationNs> least_at_start = {}, least_at_end = {};
};
inline constexpr DurationNs kClockTolerance{1'000};       // old traces have whole microseconds
std::string_view ClockStateId(DeviceClock::State state);  // "right", "off", "drifts"

// One for each device with work that has a launch, by device. Cost: O(n), and a sort of the waiting
// calls' work.
std::vector<DeviceClock> CheckDeviceClocks(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
