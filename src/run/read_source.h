#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "ingest/nsys_sqlite/nsys_reader.h"
#include "io/discover.h"
#include "model/event.h"
#include "run/progress.h"

namespace tacho {

struct TraceSizes {
  uint64_t stored = 0, json = 0;  // bytes
};

// Gives a reader the sink for the next trace of a file. `part` says which of several it is
// ("pid=1234"); "" for the only one. The sink outlives the reading. A part that is asked for again
// is read anew: what its first sink holds counts no more.
using NextSink = std::function<EventSink&(std::string part)>;

using SourceReader = std::function<Result<TraceSizes>(const TraceSource&, StreamThreads,
                                                      const NextSink&, RunProgress&)>;

// Streams each trace of one source into a sink of its own. Of a packed file that turns out to be
// damaged, and of a file that several wrote at once, only the text before the place counts where it
// stops making sense: the file is read again up to there, unless it is a pipe. Fails with
// kUnreadable, naming the file, when it holds nothing that could be a trace.
Result<TraceSizes> ReadSource(const TraceSource& source, StreamThreads threads,
                              const NextSink& next_sink, RunProgress& progress);

// What is to be summed up of a file that nsys recorded, as in NsysTimed.
struct TimedParts {
  bool gpu = false, gpu_details = false, calls = false, os_calls = false;
  // Takes the times of a file before its traces are handed on. Many threads call it at once.
  std::function<void(const TraceSource&, WorkTimes)> take = {};
};
// The same of parts of what nsys recorded; other traces are read whole. `threads` for each file
// while there are fewer files than cores; 0: one for each core.
SourceReader ReaderOfParts(const NsysParts& parts, TimedParts timed, size_t threads);

// The path of a trace in results: "FILE", of several in one file "FILE#pid=1234".
std::string TracePath(const TraceSource& source, const std::string& part);

}  // namespace tacho
