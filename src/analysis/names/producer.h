#pragma once

#include <string_view>

#include "model/event.h"

namespace tacho {

// Whether torch's profiler wrote the trace: the header has one of Kineto's keys, or an event has
// one of Kineto's categories.
bool IsTorchs(const TraceBasics& trace);

// The name of another program that wrote a Chrome trace, such as "VizTracer". It is known by a key
// of the header or by a category that only this program writes; "" if neither is found.
std::string_view ProducerOf(const TraceBasics& trace);

}  // namespace tacho
