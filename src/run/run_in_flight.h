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

// When requests of the load were in flight at one worker: from when the kernel took a request until
// its answer ended. `shared`: other engines may have handled them.
struct WorkerInFlight {
  IntervalSet when;        // Unix time by the worker's clock
  DurationNs uncertainty;  // of the difference between the worker's clock and ours
  bool shared = false;
};

// The requests of each worker, by its name ("w0"), which is also the name of its folder of traces.
// A worker is absent if its requests are not known: tacho did not drive the load, or the clock of
// the worker's host is not known.
using RunInFlight = std::map<std::string, WorkerInFlight>;

// Reads the text of a run.json, as RunJsonText in session/ writes it; empty if it has none.
RunInFlight InFlightOfRunJson(std::string_view text);

// The requests in flight for each trace that lies in a run folder of `tacho record`
// (RUN/traces/WORKER/..., beside RUN/run.json), by path of the trace; a run.json that cannot be
// read adds nothing. `given`: used instead of run.json if all traces belong to one recording whose
// run.json is not written yet.
std::map<std::string, WorkerInFlight> FindInFlight(const std::vector<TraceSource>& traces,
                                                   const std::optional<RunInFlight>& given);

// Converts the times to the clock of `trace`; nullopt if its file does not hold the Unix time.
std::optional<InFlight> OnClockOf(const Trace& trace, const WorkerInFlight& worker);

}  // namespace tacho
