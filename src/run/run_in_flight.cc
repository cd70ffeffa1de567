#include "run/run_in_flight.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/parse_json.h"
#include "run/run_place.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

// Reads a list of pairs [begin, end]; nullopt if it is anything else.
std::optional<IntervalSet> IntervalsOf(const Json& array) {
  if (!array.is_array()) return std::nullopt;
  std::vector<Interval> intervals;
  for (const Json& pair : array) {
    if (!pair.is_array() || pair.size() != 2) return std::nullopt;
    if (!pair[0].is_number_integer() || !pair[1].is_number_integer()) return std::nullopt;
    // Times before 1970, or an end before its begin, could overflow lengths.
    const int64_t begin = pair[0].get<int64_t>(), end = pair[1].get<int64_t>();
    if (begin < 0 || end < begin) return std::nullopt;
    intervals.push_back({TimeNs{begin}, TimeNs{end}});
  }
  return IntervalSet(std::move(intervals));
}

// `worker` must be a JSON object.
std::optional<WorkerInFlight> OfWorker(const Json& worker) {
  const auto told = worker.find("in_flight");
  if (told == worker.end() || !told->is_object()) return std::nullopt;
  const auto uncertainty = told->find("uncertainty_ns"), when = told->find("unix_ns");
  if (uncertainty == told->end() || when == told->end()) return std::nullopt;
  if (!uncertainty->is_number_integer()) return std::nullopt;
  const DurationNs within{uncertainty->get<int64_t>()};
  if (within.ns < 0) return std::nullopt;  // a number of 2^63 or more also reads as negative
  std::optional<IntervalSet> intervals = IntervalsOf(*when);
  if (!intervals) return std::nullopt;
  return WorkerInFlight{std::move(*intervals), within, told->value("shared", Json()) == true};
}

}  // namespace

RunInFlight InFlightOfRunJson(std::string_view text) {
  RunInFlight in_flight;
  const Json run = ParseJson(text);
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

std::map<std::string, WorkerInFlight> FindInFlight(const std::vector<TraceSource>& traces,
                                                   const std::optional<RunInFlight>& given) {
  std::map<std::string, RunInFlight> runs;
  std::map<std::string, WorkerInFlight> found;
  for (const TraceSource& trace : traces) {
    const std::optional<PlaceInRun> place =
        trace.member.empty() ? RunPlaceOf(trace.path) : std::nullopt;
    if (!place) continue;
    const auto [run, first] = runs.try_emplace(place->folder);
    if (first) run->second = given ? *given : InFlightOfRunJson(ReadRunJson(place->folder));
    const auto worker = run->second.find(place->worker);
    if (worker != run->second.end()) found.emplace(trace.path, worker->second);
  }
  return found;
}

std::optional<InFlight> OnClockOf(const Trace& trace, const WorkerInFlight& worker) {
  constexpr ClockId kClient{ClockOf::kClient}, kHost{ClockOf::kHost}, kTrace{ClockOf::kTrace};
  ClockMap clocks;
  clocks.Relate(kClient, kHost, {{}, worker.uncertainty});
  if (const auto to_host = trace.header.to_host()) clocks.Relate(kTrace, kHost, *to_host);
  const auto to_trace = clocks.Between(kClient, kTrace);
  if (!to_trace) return std::nullopt;
  std::vector<Interval> when;
  for (const Interval& unix : worker.when.intervals())
    when.push_back(to_trace->Widened(unix).Clip(trace.span));
  return InFlight{IntervalSet(std::move(when)), worker.uncertainty, worker.shared};
}

}  // namespace tacho
