#pragma once

#include <cstddef>

#include "model/trace.h"

namespace tacho {

// Blanks everything that looks like a secret (base/secrets.h) in all texts of a trace: the metadata
// in its header, the profiler's log, names, and arguments of events. Call it when the trace has
// just been built. Returns how many different values it blanked. Changes only texts, no lengths or
// figures. Cost: one pass over all distinct texts, and one over the arguments of events that have a
// text argument whose key names a secret.
size_t BlankSecretsOf(Trace& trace);

// The same for a running total (SummarySink), which does not store arguments of events.
size_t BlankSecretsOf(TraceBasics& basics);

}  // namespace tacho
