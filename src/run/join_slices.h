#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/read_run.h"
#include "run/run_in_flight.h"

namespace tacho {

using RequestsByPath = std::map<std::string, WorkerInFlight>;  // by the path of the worker's trace

// The requests in flight at the trace's worker, on the clock of the trace; nullopt: unknown.
std::optional<InFlight> RequestsOf(const Trace& trace, const TraceSource& source,
                                   const RequestsByPath& in_flight);

// A tool may cut a recording into several files, called slices, for example prefill and decode. If
// the work of several slices overlaps in time, the figures of the single slices do not tell when
// all of them were idle. So JoinSlices reads these slices again, as one trace. If that fails, or if
// a slice is one of several traces in its file, the figures of the slices are only added up.
void JoinSlices(const SourceReader& read, const std::vector<TraceSource>& sources,
                const ReadOptions& options, bool keep_secrets, const RequestsByPath& in_flight,
                const Classifier& classifier, RunAnalysis& run);

}  // namespace tacho
