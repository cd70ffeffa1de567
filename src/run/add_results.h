#pragma once

#include <string>
#include <vector>

#include "run/outcome.h"
#include "run/read_results.h"

namespace tacho {

// The error that `options`, as typed ("--window"), need events, which results do not have.
tl::unexpected<Error> NeedsEvents(const TraceSource& source, const std::string& options);

// The traces of a source of results; `beside` gets everything else in the results. Fails with
// kUnreadable if `options` need events.
Result<Outcomes<TraceAnalysis>> TakeResults(const TraceSource& source, const TraceChoice& choice,
                                            const ReadOptions& options, Results& beside);

// Merges the traces that were read back from results with the other traces of a run. `beside`: for
// each source, everything else in its results. A trace that is given twice counts once. If
// different traces have the same path, as from two machines, the path of their results is put
// before it. A failure of the original run is also a failure of this one.
void AddResults(const std::vector<TraceSource>& sources, std::vector<Results>& beside,
                Readout<RunAnalysis>& readout);

// If one file of results is all of the run, takes the waits of the ranks from it, because the
// events are gone. Call it after AnalyzeRun, which fills `run.ranks`.
void TakeBlame(const std::vector<TraceSource>& sources, std::vector<Results>& beside,
               RunAnalysis& run);

}  // namespace tacho
