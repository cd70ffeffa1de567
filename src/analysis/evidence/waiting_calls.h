#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/trace.h"

namespace tacho {

// What a host call waits for, by its name.
enum class Waits : uint8_t { kNo, kForDevice, kForStream };

inline Waits WaitsFor(std::string_view call) {
  const auto has = [&](std::string_view word) { return call.find(word) != std::string_view::npos; };
  if (has("DeviceSynchronize") || has("CtxSynchronize")) return Waits::kForDevice;
  return has("StreamSynchronize") ? Waits::kForStream : Waits::kNo;
}
// Whether a call may wait for any work: for an event or, like a copy, for earlier work on its
// stream.
inline bool MayWait(std::string_view call) {
  return call.find("Synchronize") != std::string_view::npos ||
         call.find("Memcpy") != std::string_view::npos;
}

// A call that waits for a stream returns in less time than this if the stream has no work.
inline constexpr DurationNs kWaitedForStream{10'000};

// When launched work of a trace is known to be over, because calls waited for it.
struct FinishedWork {
  // All work that was launched before this time is over.
  TimeNs before;
  // Both are sorted by start. `waits`: when the host may have waited, without overlaps.
  // `for_device`: the calls that waited for the trace's only device. The end of each entry is the
  // earliest end of its call and all later ones.
  std::vector<Interval> waits, for_device;

  // A time at which all work launched at `launched` or earlier is over: the end of the next call
  // that waited for the device, or the end of the trace if there is no such call.
  [[nodiscard]] TimeNs OverBy(TimeNs launched) const;
  // The end of the wait in which `by` lies; `by` itself if it lies in no wait.
  [[nodiscard]] TimeNs AwaitedFrom(TimeNs by) const;

 private:
  friend FinishedWork FindFinishedWork(const Trace& trace);
  TimeNs end_;
};
// If the trace has only one stream, calls that waited for a stream count for `before` too. The last
// of them does not count, because a single call may have waited for a stream that is not in the
// trace. Cost: O(n) for host calls, and a sort of those that waited.
FinishedWork FindFinishedWork(const Trace& trace);

}  // namespace tacho
