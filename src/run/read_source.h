#pragma once

#include <cstdint>

#include "base/result.h"
#include "io/discover.h"
#include "model/event.h"
#include "model/notes.h"
#include "model/trace.h"
#include "run/progress.h"

namespace tacho {

struct TraceSizes {
  uint64_t stored = 0, json = 0;  // bytes
};

// Streams one trace into `sink`. Fails with kUnreadable, naming the file, when it holds nothing
// that could be a trace.
Result<TraceSizes> ReadSource(const TraceSource& source, StreamThreads threads, EventSink& sink,
                              RunProgress& progress);

}  // namespace tacho
