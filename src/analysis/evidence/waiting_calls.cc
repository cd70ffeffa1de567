#include "analysis/evidence/waiting_calls.h"

#include <algorithm>

#include "analysis/of_each_call.h"

namespace tacho {

TimeNs FinishedWork::OverBy(TimeNs launched) const {
  const auto wait = std::ranges::lower_bound(waits, launched, {}, &Interval::start);
  return wait == waits.end() ? end_ : wait->end;
}

FinishedWork FindFinishedWork(const Trace& trace) {
  FinishedWork found;
  found.before = trace.span.start;
  found.end_ = trace.span.end;
  const std::vector<Stream>& streams = trace.words.streams();
  if (std::ranges::any_of(
          streams, [&](const Stream& stream) { return stream.device != streams.front().device; }))
    return found;
  const std::vector<Waits> waits = OfEachCall(trace, WaitsFor);
  TimeNs last_for_stream = trace.span.start, second_last = trace.span.start;
  for (uint32_t call = 0; call < waits.size(); ++call) {
    const Interval when = trace.host_calls.When(call);
    if (waits[call] == Waits::kForDevice) {
      found.waits.push_back(when);
      found.before = std::max(found.before, when.start);
    } else if (waits[call] == Waits::kForStream && streams.size() == 1 &&
               when.length() >= kWaitedForStream) {
      second_last = std::max(second_last, std::min(last_for_stream, when.start));
      last_for_stream = std::max(last_for_stream, when.start);
    }
  }
  found.before = std::max(found.before, second_last);
  std::ranges::sort(found.waits, {}, &Interval::start);
  for (size_t i = found.waits.size(); i-- > 1;)
    found.waits[i - 1].end = std::min(found.waits[i - 1].end, found.waits[i].end);
  return found;
}

}  // namespace tacho
