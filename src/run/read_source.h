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

// Gives a reader the sink for the next trace of a file. `part`: which of several traces it is
// ("pid=1234"); "" for the only one. The sink must outlive the reading. If a part is asked for
// again, it is read again: its first sink no longer counts.
using NextSink = std::function<EventSink&(std::string part)>;

using SourceReader = std::function<Result<TraceSizes>(const TraceSource&, StreamThreads,
                                                      const NextSink&, RunProgress&)>;

// Streams each trace of one source into a sink of its own. If a packed file is damaged, or several
// programs wrote a file at once, only the text before the first damage counts: the file is read
// again up to that place, unless it is a pipe. Fails with kUnreadable, naming the file, when it
// holds nothing that could be a trace.
Result<TraceSizes> ReadSource(const TraceSource& source, StreamThreads threads,
                              const NextSink& next_sink, RunProgress& progress);

// The parts of an nsys recording to sum up, as in NsysTimed.
struct TimedParts {
  bool gpu = false, gpu_details = false, calls = false, os_calls = false;
  // Takes the times of a file before its traces are passed on. Many threads call it at once.
  std::function<void(const TraceSource&, WorkTimes)> take = {};
};
// Like ReadSource, but reads only these parts of an nsys recording; other traces are read whole.
// `threads`: the threads that sum up one file while there are fewer files than cores (else one
// thread does); 0: one for each core.
SourceReader ReaderOfParts(const NsysParts& parts, const TimedParts& timed, size_t threads);

// The path of a trace in results: "FILE", or "FILE#pid=1234" if the file has several traces.
std::string TracePath(const TraceSource& source, const std::string& part);

}  // namespace tacho
