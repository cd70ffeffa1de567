#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/in_flight.h"
#include "io/discover.h"
#include "session/in_flight.h"

namespace tacho {

// The requests of those traces that lie in a run folder of `tacho record`
// (RUN/traces/WORKER/..., beside RUN/run.json), by path of the trace; a run.json that cannot be
// read tells nothing. `given`: of the one recording that all the traces are of, whose run.json is
// not written yet.
std::map<std::string, WorkerInFlight> FindInFlight(const std::vector<TraceSource>& traces,
                                                   const std::optional<RunInFlight>& given);

// On the clock of `trace`; nullopt where its file does not tell the Unix time.
std::optional<InFlight> OnClockOf(const Trace& trace, const WorkerInFlight& worker);

}  // namespace tacho
