#pragma once

#include <string_view>

#include "simulate/engine/recording.h"
#include "simulate/trace/kineto_text.h"

namespace tacho::simulate {

// The parts of a Kineto file around its events.

// `session_ns`: when the profiler started. The trace id depends on it.
void WriteTraceHeader(const TraceSource& source, int64_t session_ns, int64_t base_ns,
                      TraceText& text);
// Names of the process, its threads, the devices and their streams; each event ends in a comma.
void WriteTraceMetadata(const TraceSource& source, int64_t start_ns, TraceText& text);
// The profiler's span and its place among the processes.
void WriteProfilerSpan(const KinetoLayout& layout, KinetoDialect dialect, int64_t start_ns,
                       int64_t end_ns, TraceText& text);
// The mark of the window's end, the end of the events and of the file.
void WriteTraceEnd(const TraceSource& source, int64_t end_ns, TraceText& text);

}  // namespace tacho::simulate
