#include "analysis/evidence/waiting_calls.h"

#include <algorithm>

#include "analysis/index/of_each_call.h"

namespace tacho {
namespace {

// Merges intervals that overlap or touch.
void Merge(std::vector<Interval>& intervals) {
  std::ranges::sort(intervals, {}, &Interval::start);
  size_t kept = 0;
  for (const Interval& one : intervals) {
    if (kept > 0 && one.start <= intervals[kept - 1].end)
      intervals[kept - 1].end = std::max(intervals[kept - 1].end, one.end);
    else
      intervals[kept++] = one;
  }
  intervals.resize(kept);
}

}  // namespace

TimeNs FinishedWork::OverBy(TimeNs launched) const {
  const auto wait = std::ranges::lower_bound(for_device, launched, {}, &Interval::start);
  return wait == for_device.end() ? end_ : wait->end;
}

TimeNs FinishedWork::AwaitedFrom(TimeNs by) const {
  const auto after = std::ranges::upper_bound(waits, by, {}, &Interval::start);
  return after == waits.begin() ? by : std::max(by, (after - 1)->end);
}

FinishedWork FindFinishedWork(const Trace& trace) {
  FinishedWork found;
  found.before = trace.span.start;
  found.end_ = trace.span.end;
  const std::vector<Stream>& streams = trace.words.streams();
  const bool one_device = std::ranges::all_of(
      streams, [&](const Stream& stream) { return stream.device == streams.front().device; });
  const std::vector<Waits> waits = OfEachCall(trace, WaitsFor);
  const std::vector<uint8_t> may_wait = OfEachCall(trace, MayWait);
  TimeNs last_for_stream = trace.span.start, second_last = trace.span.start;
  for (uint32_t call = 0; call < waits.size(); ++call) {
    if (may_wait[call] == 0) continue;
    const Interval when = trace.host_calls.When(call);
    found.waits.push_back(when);
    if (waits[call] == Waits::kForDevice && one_device) {
      found.for_device.push_back(when);
      found.before = std::max(found.before, when.start);
    } else if (waits[call] == Waits::kForStream && streams.size() == 1 &&
               when.length() >= kWaitedForStream) {
      second_last = std::max(second_last, std::min(last_for_stream, when.start));
      last_for_stream = std::max(last_for_stream, when.start);
    }
  }
  found.before = std::max(found.before, second_last);
  Merge(found.waits);
  std::ranges::sort(found.for_device, {}, &Interval::start);
  for (size_t i = found.for_device.size(); i-- > 1;)
    found.for_device[i - 1].end = std::min(found.for_device[i - 1].end, found.for_device[i].end);
  return found;
}

}  // namespace tacho
