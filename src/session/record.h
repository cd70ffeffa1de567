#pragma once

#include <stop_token>

#include "net/http_client.h"
#include "session/record_observer.h"
#include "session/recording.h"
#include "session/recording_options.h"

namespace tacho {

// Records a deployment: preflight, warm-up, a window without and one with profiling, stop, collect.
// Profilers that were started are stopped whatever happens, also when `stop` is requested (the
// recording is then interrupted and holds what there is). It fails only in the preflight, before
// anything was started: kUsage (it cannot do what was asked for), kRemote (no answer, or somebody
// else profiles), kOutput (the run folder).
Result<Recording> Record(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                         std::stop_token stop = {});

}  // namespace tacho
