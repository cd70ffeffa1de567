#pragma once

#include <stop_token>

#include "net/http_client.h"
#include "session/record_observer.h"
#include "session/recording.h"
#include "session/recording_options.h"

namespace tacho {

// Records a deployment: preflight, warm-up, a window without profiling and one with it, stop,
// collect. Stops the profilers that it started whatever happens, also when `stop` is requested
// (then the recording counts as interrupted and holds what was recorded so far). Fails only in the
// preflight, before anything is started: kUsage (tacho cannot do what was asked for), kRemote (no
// answer, or somebody else profiles), kOutput (the run folder).
Result<Recording> Record(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                         std::stop_token stop = {});

}  // namespace tacho
