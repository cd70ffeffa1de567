#pragma once

#include "base/byte_sink.h"
#include "simulate/engine/recording.h"

namespace tacho::simulate {

// Writes one rank's trace as Kineto does, identical to the byte as far as Kineto's output is known:
// header, operators and annotations, the profiler's own span and marks, calls and device work with
// their flows, the annotations on the device, metadata of processes and threads. False if the sink
// failed.
//
// All device work of a graph launch has the launch's correlation and no External id.
bool WriteKinetoTrace(const TraceSource& source, const Recording& recording, ByteSink& sink);

}  // namespace tacho::simulate
