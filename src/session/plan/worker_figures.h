#pragma once

#include <stop_token>
#include <vector>

#include "net/http_client.h"
#include "session/driver.h"
#include "session/load/token_flow.h"
#include "session/recording.h"

namespace tacho {

// What a session costs on each worker: known from earlier recordings or from a trial, and kept
// after this recording.

// Gives each worker of `recording` the cost of a session on it. Takes the costs that earlier
// recordings kept if all of these engines were profiled before; otherwise measures them in a trial.
// Notes a worker that dies in the trial as a trouble of the recording. Returns false if the
// recording cannot go on.
bool FindFiguresOf(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                   Recording& recording, DriverWindow& window, TokenFlow& flow,
                   std::stop_token stop);

// Notes the figures of each worker's files in the worker, and keeps them for later recordings.
void KeepRecorded(Recording& recording, const std::vector<TraceEvidence>& traces);

}  // namespace tacho
