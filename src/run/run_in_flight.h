#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/device/in_flight.h"
#include "base/interval_set.h"
#include "io/trace_sources.h"

namespace tacho {

// When requests of the load were in flight at one worker. A request is in flight from when the
// kernel took it until its answer ended. `shared`: other engines may have handled some of them.
struct WorkerInFlight {
  IntervalSet when;        // Unix time on the worker's clock
  DurationNs uncertainty;  // of the difference between the worker's clock and that of the client
  bool shared = false;
};

// The requests of each worker, by the worker's name ("w0"), which is also the name of its folder of
// traces. A worker is absent if its requests are unknown, because tacho did not drive the load or
// because the clock of the worker's host is unknown.
using RunInFlight = std::map<std::string, WorkerInFlight>;

// Reads the requests in flight from the text of a run.json (written by RunJsonText in session/);
// empty if it has none.
RunInFlight InFlightOfRunJson(std::string_view text);

// The requests in flight for each trace in a run folder of `tacho record` (RUN/traces/WORKER/...,
// with RUN/run.json), by path of the trace. A run.json that cannot be read gives nothing. `given`:
// used instead of run.json if that is not written yet. All traces must then belong to one
// recording.
std::map<std::string, WorkerInFlight> FindInFlight(const std::vector<TraceSource>& traces,
                                                   const std::optional<RunInFlight>& given);

// Converts times to the clock of `trace`; nullopt if its file does not give Unix time.
std::optional<InFlight> OnClockOf(const Trace& trace, const WorkerInFlight& worker);

}  // namespace tacho
