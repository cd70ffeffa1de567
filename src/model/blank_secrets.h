#pragma once

#include <cstddef>

#include "model/trace.h"

namespace tacho {

// Blanks what looks like a secret (base/secrets.h) in all texts of a trace that was just built:
// metadata in its header, the profiler's log, names, and arguments of events. Returns how many
// different values. No length changes, and no figure: only texts do. Cost: a pass over all distinct
// texts, and over the arguments of events whose shape keeps the texts of such a key.
size_t BlankSecretsOf(Trace& trace);

// The same without the arguments of events, of which a running total keeps none.
size_t BlankSecretsOf(TraceBasics& basics);

}  // namespace tacho
