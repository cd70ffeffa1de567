#pragma once

#include <string>
#include <vector>

#include "run/outcome.h"
#include "run/read_results.h"

namespace tacho {

// `options`, as typed ("--window"), need the events, which results do not have; "": none does.
tl::unexpected<Error> NeedsEvents(const TraceSource& source, const std::string& options);

// The traces of a source of results; `beside` gets what the results hold besides them. Fails with
// kUnreadable if `options` need events.
Result<Outcomes<TraceAnalysis>> TakeResults(const TraceSource& source, const TraceChoice& choice,
                                            const ReadOptions& options, Results& beside);

// Brings together the traces of a run of which some are read back; `beside` has what the results
// hold besides them, by source. A trace that is given twice counts once. Traces of one path on two
// machines get the path of their results in front of theirs. A failure of the original run is one
// of this.
void AddResults(const std::vector<TraceSource>& sources, std::vector<Results>& beside,
                Readout<RunAnalysis>& readout);

}  // namespace tacho
