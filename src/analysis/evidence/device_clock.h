#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/launches.h"
#include "model/track_index.h"

namespace tacho {

// Whether a device's times agree with the host's clock. Profilers convert device times into host
// times; these may be off by a constant (roctracer), or drift (kineto #1082).
//
// Host time = device time + `offset`. Some orders of events are impossible, which gives bounds on
// `offset`:
//   - work cannot start before the call that launches it begins: offset >= call.start - work.start;
//   - a call that waits for the device cannot return before the work launched until then has ended,
//     and no work ends after the profiler stopped: offset <= end of the call - end of the work.
// Waiting calls are *DeviceSynchronize and *CtxSynchronize. If the device has work on only one
// stream, a *StreamSynchronize of 10 us or more is one too, since a wait for a stream without work
// would return at once. A single *StreamSynchronize that returned too early, between others that
// did not, is ignored.
struct DeviceClock {
  std::string device;
  // Number of launch calls whose first piece of work ran on this device, and how many of these
  // pieces start before their call began.
  uint64_t launched = 0, before_launch = 0;
  // Number of waiting calls that had work to wait for, and how many returned before it had ended.
  uint64_t waited = 0, after_wait = 0;
  std::optional<DurationNs> least = {}, most = {};  // bounds on a constant offset
  enum class State : uint8_t {
    kRight,   // 0 is within the bounds
    kOff,     // the bounds allow a constant offset, but not 0
    kDrifts,  // no constant is within the bounds
    kCount,
  };
  State state = State::kRight;
  // Like `least`, but only from calls in the first and in the last tenth of the recording. The two
  // limit how far the clock can have drifted within the bounds.
  std::optional<DurationNs> least_at_start = {}, least_at_end = {};
};
inline constexpr DurationNs kClockTolerance{1'000};       // old traces have whole microseconds
std::string_view ClockStateId(DeviceClock::State state);  // "right", "off", "drifts"

// One entry for each device with launched work, sorted by device. Cost: O(n); with waiting calls,
// also a sort of the launched work.
std::vector<DeviceClock> CheckDeviceClocks(const TrackIndex& index, const LaunchLinks& links);

}  // namespace tacho
