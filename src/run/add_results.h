#pragma once

#include <string>
#include <vector>

#include "run/outcome.h"
#include "run/read_results.h"

namespace tacho {

// The error for options that need events, which results do not have. `options`: as typed
// ("--window").
tl::unexpected<Error> NeedsEvents(const TraceSource& source, const std::string& options);

// Takes the traces out of a source that is a file of results. `beside` gets everything else in the
// file. Fails with kUnreadable if `options` need events.
Result<Outcomes<TraceAnalysis>> TakeResults(const TraceSource& source, const TraceChoice& choice,
                                            const ReadOptions& options, Results& beside);

// Merges traces that were read back from results with the other traces of a run. `beside`: for each
// source, everything else in its results. A trace that is given twice counts once. If two different
// traces have the same path, for example because they come from two machines, the path of the
// results file is put before it. Failures of the original run become failures of this one.
void AddResults(const std::vector<TraceSource>& sources, std::vector<Results>& beside,
                Readout<RunAnalysis>& readout);

// If the whole run comes from one file of results: takes from this file how long the ranks waited
// for each other, because that cannot be computed without events. Call it after AnalyzeRun, which
// fills `run.ranks`.
void TakeBlame(const std::vector<TraceSource>& sources, std::vector<Results>& beside,
               RunAnalysis& run);

}  // namespace tacho
