#pragma once

#include <string_view>

#include "simulate/engine/recording.h"
#include "simulate/trace/kineto_text.h"

namespace tacho::simulate {

// Writes the parts of a Kineto file around its events.

// `session_ns`: when the profiler started; the trace id depends on it.
void WriteTraceHeader(const TraceSource& source, int64_t session_ns, int64_t base_ns,
                      TraceText& text);
// Names the process, its threads, the devices and their streams. Each event ends in a comma.
void WriteTraceMetadata(const TraceSource& source, int64_t start_ns, TraceText& text);
// Writes the profiler's span and its place among the processes.
void WriteProfilerSpan(const KinetoLayout& layout, KinetoDialect dialect, int64_t start_ns,
                       int64_t end_ns, TraceText& text);
// Writes the mark of the window's end, and closes the list of events and the file.
void WriteTraceEnd(const TraceSource& source, int64_t end_ns, TraceText& text);

}  // namespace tacho::simulate
