#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "run/read_run.h"
#include "run/run_in_flight.h"

namespace tacho {

using RequestsByPath = std::map<std::string, WorkerInFlight>;  // by the path of the worker's trace

// The worker's requests on the clock of its trace; nullopt: unknown.
std::optional<InFlight> RequestsOf(const Trace& trace, const TraceSource& source,
                                   const RequestsByPath& in_flight);

// Slices of one recording are files that a tool cut out of it (prefill apart from decode). Slices
// with overlapping work are read again, as one trace, because their own figures do not show when
// any of them was busy. If that fails, or a slice is one of several traces of its file, the slices
// are only added up.
void JoinSlices(const SourceReader& read, const std::vector<TraceSource>& sources,
                const ReadOptions& options, bool keep_secrets, const RequestsByPath& in_flight,
                const Classifier& classifier, RunAnalysis& run);

}  // namespace tacho
