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
// Whether a call may wait for some work, unknown which: for an event, or, as a copy does, for what
// is on its stream.
inline bool MayWait(std::string_view call) {
  return call.find("Synchronize") != std::string_view::npos ||
         call.find("Memcpy") != std::string_view::npos;
}

// A call that waits for a stream without work returns in less time than this.
inline constexpr DurationNs kWaitedForStream{10'000};

// When launched work of a trace is known to be over, because calls waited for it.
struct FinishedWork {
  // All work that was launched before this time is over.
  TimeNs before;
  // By start. `waits`: when the host may have waited, without overlaps. `for_device`: the calls
  // that waited for the trace's only device; the end of each is the earliest of its own end and
  // those of all later ones.
  std::vector<Interval> waits, for_device;

  // The latest time at which work is over that was launched at `launched` or earlier; the end of
  // the trace if unknown.
  [[nodiscard]] TimeNs OverBy(TimeNs launched) const;
  // The end of the wait that `by` lies in, if any; else `by`.
  [[nodiscard]] TimeNs AwaitedFrom(TimeNs by) const;

 private:
  friend FinishedWork FindFinishedWork(const Trace& trace);
  TimeNs end_;
};
// With only one stream, calls that waited for a stream count for `before`, except the last of them:
// a single one may have waited for another stream that has no row. Cost: O(n) over host calls and a
// sort of those that waited.
FinishedWork FindFinishedWork(const Trace& trace);

}  // namespace tacho
