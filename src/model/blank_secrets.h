#pragma once

#include <cstddef>

#include "model/trace.h"

namespace tacho {

// Blanks everything that looks like a secret (base/secrets.h) in all texts of a trace that was just
// built: metadata in its header, the profiler's log, names, and arguments of events. Returns how
// many different values it blanked. No length and no figure changes, only texts. Cost: a pass over
// all distinct texts, and over the arguments of events whose shape keeps texts of a key that names
// a secret.
size_t BlankSecretsOf(Trace& trace);

// The same for a running total (SummarySink), which keeps no arguments of events.
size_t BlankSecretsOf(TraceBasics& basics);

}  // namespace tacho
