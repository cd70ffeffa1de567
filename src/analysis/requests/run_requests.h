#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/requests/request_rows.h"

namespace tacho {

// The requests of a run and its steps, joined: what RunAnalysis::requests was computed from.
struct RunRequests {
  RequestTable table;
  RequestJoin join;
  std::vector<std::string> engine_names;  // by engine of the join
  // By trace of the run: SkewOfCells; empty: not known.
  std::vector<std::vector<DurationNs>> skew;
};

// Joins the requests with the engines of the run, and fills its `requests` and `joined`. Traces
// belong to one engine if they name one worker of the table and, within it, one data-parallel
// engine; if several traces of a worker claim to be the same rank, each belongs to another engine,
// in the order of their paths. The traces need their digests, and AnalyzeRun must have seen them.
void AnalyzeRequests(RunAnalysis& run, RequestTable table);

// SkewOfCells of these traces, by trace of the run; empty: not known, or not asked for. The traces
// need their digests. Cost: O(n) for n communication kernels of all ranks.
std::vector<std::vector<DurationNs>> SkewOf(const RunAnalysis& run,
                                            const std::vector<uint32_t>& traces);

// What DetailOf needs, of a run that has `joined`. Refers to the run.
RequestInput InputOf(const RunAnalysis& run);

}  // namespace tacho
