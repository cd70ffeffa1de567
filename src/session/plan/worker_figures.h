#pragma once

#include <stop_token>
#include <vector>

#include "net/http_client.h"
#include "session/driver.h"
#include "session/load/token_flow.h"
#include "session/recording.h"

namespace tacho {

// What a session costs on each worker: known from earlier recordings or a trial, and kept after
// this one.

// Gives each worker of `recording` the costs of a session on it: those that earlier recordings kept
// if all of these engines were profiled before, else those that a trial measures. A worker that
// dies in the trial is noted as a trouble of the recording. False: the recording cannot go on.
bool FindFiguresOf(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                   Recording& recording, DriverWindow& window, TokenFlow& flow,
                   std::stop_token stop);

// Notes in the workers the figures of their files, and keeps these for later recordings.
void KeepRecorded(Recording& recording, const std::vector<TraceEvidence>& traces);

}  // namespace tacho
