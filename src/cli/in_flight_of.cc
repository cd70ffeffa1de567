#include "cli/in_flight_of.h"

#include <filesystem>
#include <utility>

#include "cli/input.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostRunJson = size_t{1} << 26;

struct PlaceInRun {
  std::string folder, worker;
};

std::optional<PlaceInRun> RunPlaceOf(const std::string& trace) {
  std::error_code failed;
  fs::path at = fs::absolute(trace, failed).lexically_normal();
  if (failed) return std::nullopt;
  for (; at.has_relative_path(); at = at.parent_path()) {
    const fs::path traces = at.parent_path();
    if (traces.filename() == "traces")
      return PlaceInRun{traces.parent_path().string(), at.filename().string()};
  }
  return std::nullopt;
}

RunInFlight ReadRunJson(const std::string& folder) {
  const std::string path = folder + "/run.json";
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return {};
  const Result<std::string> text = ReadInput(path, kMostRunJson);
  return text ? InFlightOfRunJson(*text) : RunInFlight();
}

}  // namespace

std::map<std::string, WorkerInFlight> FindInFlight(const std::vector<TraceSource>& traces,
                                                   const std::optional<RunInFlight>& given) {
  std::map<std::string, RunInFlight> runs;
  std::map<std::string, WorkerInFlight> found;
  for (const TraceSource& trace : traces) {
    const std::optional<PlaceInRun> place =
        trace.member.empty() ? RunPlaceOf(trace.path) : std::nullopt;
    if (!place) continue;
    const auto [run, first] = runs.try_emplace(place->folder);
    if (first) run->second = given ? *given : ReadRunJson(place->folder);
    const auto worker = run->second.find(place->worker);
    if (worker != run->second.end()) found.emplace(trace.path, worker->second);
  }
  return found;
}

std::optional<InFlight> OnClockOf(const Trace& trace, const WorkerInFlight& worker) {
  const int64_t base = trace.header.base_time_ns;
  if (base < 0) return std::nullopt;
  const auto on_clock = [&](TimeNs unix, DurationNs wider) {
    return TimeNs{AddSaturated(AddSaturated(unix.ns, wider.ns), -base)};
  };
  std::vector<Interval> when;
  for (const Interval& unix : worker.when.intervals()) {
    when.push_back(
        Interval{on_clock(unix.start, -worker.uncertainty), on_clock(unix.end, worker.uncertainty)}
            .Clip(trace.span));
  }
  return InFlight{IntervalSet(std::move(when)), worker.uncertainty, worker.shared};
}

}  // namespace tacho
