#include "session/run_folder/in_flight.h"

#include <set>
#include <utility>
#include <vector>

namespace tacho {
namespace {

// How far the Unix times of a Kineto trace may differ from the clock of its host.
constexpr int64_t kTraceClockError = 1'000'000;
constexpr int64_t kNoticesEnd = 1'000'000'000;

}  // namespace

RunInFlight InFlightOf(const Recording& recording) {
  RunInFlight in_flight;
  if (!recording.load) return in_flight;
  const size_t engines = recording.workers.size() + recording.left_out.size();
  std::set<std::string> urls;
  for (const RecordedWorker& worker : recording.workers) urls.insert(worker.worker.url);
  for (const RecordedWorker& worker : recording.workers) {
    if (!worker.facts.clock_offset_ns) continue;
    std::vector<Interval> intervals;
    bool shared = worker.facts.data_parallel.value_or(1) > 1;
    for (const RequestRecord& request : recording.load->requests) {
      if (request.sent_ns == 0) continue;
      if (request.url != worker.worker.url && urls.contains(request.url)) continue;
      shared |= engines > 1 && request.url != worker.worker.url;
      const auto unix = [&](int64_t monotonic_ns) {
        return TimeNs{UnixOf(monotonic_ns, recording.load->clocks) + *worker.facts.clock_offset_ns};
      };
      const bool whole = request.status == RequestStatus::kDone;
      intervals.push_back(
          {unix(request.sent_ns), unix(request.ended_ns + (whole ? 0 : kNoticesEnd))});
    }
    in_flight[worker.expectation.name] = {
        IntervalSet(std::move(intervals)),
        DurationNs{worker.facts.clock_error_ns.value_or(0) + kTraceClockError}, shared};
  }
  return in_flight;
}

}  // namespace tacho
