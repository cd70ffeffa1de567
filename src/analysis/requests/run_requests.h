#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/requests/request_rows.h"

namespace tacho {

// The requests of a run, joined with its steps. RunAnalysis::requests is computed from these.
struct RunRequests {
  RequestTable table;
  RequestJoin join;
  std::vector<std::string> engine_names;  // by index into RequestJoin::engines
  // By trace of the run: what SkewOfCells returned for it; empty if not known.
  std::vector<std::vector<DurationNs>> skew;
};

// Joins the requests with the engines of the run, and fills its `requests` and `joined`. Traces
// that name the same worker of the table, and the same data-parallel engine in it, belong to one
// engine. But if several traces of a worker claim to be the same rank, each belongs to an engine of
// its own, in the order of their paths. The traces need their digests, and AnalyzeRun must have
// seen them.
void AnalyzeRequests(RunAnalysis& run, RequestTable table);

// By trace of the run: what SkewOfCells finds for it; empty if not known, or if the trace is not in
// `traces`. The traces need their digests. Cost: O(n) for n communication kernels of all ranks.
std::vector<std::vector<DurationNs>> SkewOf(const RunAnalysis& run,
                                            const std::vector<uint32_t>& traces);

// The input for DetailOf. `run.joined` must be set. The result refers to the run.
RequestInput InputOf(const RunAnalysis& run);

}  // namespace tacho
