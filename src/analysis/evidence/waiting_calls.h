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
// Whether it may wait for some work, nobody knows which: for an event, or as a copy does for
// what is on its stream.
inline bool MayWait(std::string_view call) {
  return call.find("Synchronize") != std::string_view::npos ||
         call.find("Memcpy") != std::string_view::npos;
}

// A call that waits for a stream without work returns in less.
inline constexpr DurationNs kWaitedForStream{10'000};

// After which calls work of a trace is over that was launched before they began.
struct FinishedWork {
  // What was launched before is over, all of it.
  TimeNs before;
  // By start: when the host may have waited, without overlaps; and the calls that waited for the
  // trace's only device, with the earliest end of it and all later ones.
  std::vector<Interval> waits, for_device;

  // By when work is over that was launched by then; the end of the trace if nobody knows.
  [[nodiscard]] TimeNs OverBy(TimeNs launched) const;
  // The end of the waits that `by` lies in; else `by`.
  [[nodiscard]] TimeNs AwaitedFrom(TimeNs by) const;

 private:
  friend FinishedWork FindFinishedWork(const Trace& trace);
  TimeNs end_;
};
// Where there is one stream, calls that waited for a stream count for `before`, but for the last of
// them: a single one may have waited for another stream without any row. Cost: O(n) over host calls
// and a sort of those that waited.
FinishedWork FindFinishedWork(const Trace& trace);

}  // namespace tacho
