#pragma once

#include <string_view>

#include "model/event.h"

namespace tacho {

// Whether torch's profiler wrote the trace: its header has one of Kineto's keys, or an event one of
// Kineto's categories.
bool IsTorchs(const TraceBasics& trace);

// Which other program wrote a Chrome trace, by a key of its header or a category that only it
// writes: "VizTracer"; "" if nothing says.
std::string_view ProducerOf(const TraceBasics& trace);

}  // namespace tacho
