#pragma once

#include "base/byte_sink.h"
#include "simulate/engine/recording.h"

namespace tacho::simulate {

// Writes one rank's trace as Kineto does, to the byte as far as known: header, operators and
// annotations, the profiler's own span and marks, calls and device work with their flows, the
// annotations on the device, metadata of processes and threads. False if the sink failed.
//
// Device work under a graph launch shares its correlation and has no External id.
bool WriteKinetoTrace(const TraceSource& source, const Recording& recording, ByteSink& sink);

}  // namespace tacho::simulate
