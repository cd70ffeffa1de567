#include "analysis/evidence/waiting_calls.h"

#include <algorithm>

#include "analysis/of_each_call.h"

namespace tacho {

TimeNs FinishedWork::OverBy(TimeNs launched) const {
  const auto wait = std::ranges::lower_bound(for_device, launched, {}, &Interval::start);
  return wait == for_device.end() ? end_ : wait->end;
}

TimeNs FinishedWork::AwaitedFrom(TimeNs by) const {
  for (auto wait = std::ranges::upper_bound(waits, by, {}, &Interval::start);
       wait != waits.begin() && (wait - 1)->end > by;
       wait = std::ranges::upper_bound(waits, by, {}, &Interval::start))
    by = (wait - 1)->end;
  return by;
}

FinishedWork FindFinishedWork(const Trace& trace) {
  FinishedWork found;
  found.before = trace.span.start;
  found.end_ = trace.span.end;
  const std::vector<Stream>& streams = trace.words.streams();
  const bool one_device = std::ranges::all_of(
      streams, [&](const Stream& stream) { return stream.device == streams.front().device; });
  const std::vector<Waits> waits = OfEachCall(trace, WaitsFor);
  TimeNs last_for_stream = trace.span.start, second_last = trace.span.start;
  for (uint32_t call = 0; call < waits.size(); ++call) {
    if (waits[call] == Waits::kNo) continue;
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
  std::ranges::sort(found.waits, {}, &Interval::start);
  for (size_t i = 1; i < found.waits.size(); ++i)  // by the latest end so far
    found.waits[i].end = std::max(found.waits[i].end, found.waits[i - 1].end);
  std::ranges::sort(found.for_device, {}, &Interval::start);
  for (size_t i = found.for_device.size(); i-- > 1;)
    found.for_device[i - 1].end = std::min(found.for_device[i - 1].end, found.for_device[i].end);
  return found;
}

}  // namespace tacho
