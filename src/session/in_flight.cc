#include "session/in_flight.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tacho {
namespace {

using Json = nlohmann::json;

// How far the Unix times of a Kineto trace may be off its host's clock.
constexpr int64_t kTraceClockError = 1'000'000;
constexpr int64_t kNoticesEnd = 1'000'000'000;

// An array of [begin, end]; nullopt when it is anything else.
std::optional<IntervalSet> IntervalsOf(const Json& array) {
  if (!array.is_array()) return std::nullopt;
  std::vector<Interval> intervals;
  for (const Json& pair : array) {
    if (!pair.is_array() || pair.size() != 2) return std::nullopt;
    if (!pair[0].is_number_integer() || !pair[1].is_number_integer()) return std::nullopt;
    // What is no time since 1970 would overflow the lengths.
    const int64_t begin = pair[0].get<int64_t>(), end = pair[1].get<int64_t>();
    if (begin < 0 || end < begin) return std::nullopt;
    intervals.push_back({TimeNs{begin}, TimeNs{end}});
  }
  return IntervalSet(std::move(intervals));
}

// `worker` is an object.
std::optional<WorkerInFlight> OfWorker(const Json& worker) {
  const auto told = worker.find("in_flight");
  if (told == worker.end() || !told->is_object()) return std::nullopt;
  const auto uncertainty = told->find("uncertainty_ns"), when = told->find("unix_ns");
  if (uncertainty == told->end() || when == told->end()) return std::nullopt;
  if (!uncertainty->is_number_integer() || *uncertainty < 0) return std::nullopt;
  std::optional<IntervalSet> intervals = IntervalsOf(*when);
  if (!intervals) return std::nullopt;
  return WorkerInFlight{std::move(*intervals), DurationNs{uncertainty->get<int64_t>()},
                        told->value("shared", Json()) == true};
}

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

RunInFlight InFlightOfRunJson(std::string_view text) {
  RunInFlight in_flight;
  const Json run = Json::parse(text, nullptr, false);
  const auto workers = run.is_object() ? run.find("workers") : run.end();
  if (workers == run.end() || !workers->is_array()) return in_flight;
  for (const Json& worker : *workers) {
    if (!worker.is_object()) continue;
    const auto name = worker.find("name");
    if (name == worker.end() || !name->is_string()) continue;
    if (auto told = OfWorker(worker)) in_flight.emplace(name->get<std::string>(), std::move(*told));
  }
  return in_flight;
}

}  // namespace tacho
