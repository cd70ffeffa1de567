#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "ingest/nsys_sqlite/nsys_reader.h"
#include "io/trace_sources.h"
#include "model/event.h"
#include "run/progress.h"

namespace tacho {

struct TraceSizes {
  uint64_t stored = 0, json = 0;  // bytes
};

// Returns the sink for the next trace of a file. `part`: which of several traces it is
// ("pid=1234"); "" if there is only one. The sink must exist until reading ends. If NextSink is
// called a second time for the same part, the trace is read again and the first sink no longer
// counts.
using NextSink = std::function<EventSink&(std::string part)>;

using SourceReader = std::function<Result<TraceSizes>(const TraceSource&, StreamThreads,
                                                      const NextSink&, RunProgress&)>;

// Reads each trace of one source into a sink of its own. If a compressed file is damaged, or
// several programs wrote to a file at the same time, only the text before the first damage counts;
// the file is then read again up to that place, unless it is a pipe. Fails with kUnreadable and the
// name of the file if nothing in it could be a trace.
Result<TraceSizes> ReadSource(const TraceSource& source, StreamThreads threads,
                              const NextSink& next_sink, RunProgress& progress);

// Which parts of an nsys recording to sum up without storing their rows; see NsysTimed.
struct TimedParts {
  bool gpu = false, gpu_details = false, calls = false, os_calls = false;
  // Takes the times of a file before its traces are handed over. Several threads may call it at the
  // same time.
  std::function<void(const TraceSource&, WorkTimes)> take = {};
};
// A reader like ReadSource, except that it reads only `parts` of an nsys recording. Traces of other
// formats are read whole. `threads`: how many threads sum up one file if there are fewer files than
// cores (otherwise one thread does); 0: one for each core.
SourceReader ReaderOfParts(const NsysParts& parts, const TimedParts& timed, size_t threads);

// The path that a trace has in results: "FILE", or "FILE#pid=1234" if the file has several traces.
std::string TracePath(const TraceSource& source, const std::string& part);

}  // namespace tacho
