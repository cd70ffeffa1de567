#pragma once

#include <string>

#include "simulate/engine/recording.h"

namespace tacho::simulate {

// The figures that an analysis of the trace must give, as JSON. They are computed from the
// recording itself: its steps (phase, requests, tokens, start and length), kernels by name (count,
// total), copies and memsets, busy and idle time of the device, launches. Schema: docs/simulate.md.
std::string TruthOf(const TraceSource& source, const Recording& recording);

}  // namespace tacho::simulate
