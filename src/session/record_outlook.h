#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "control/probe.h"
#include "net/http_client.h"
#include "session/profiler_session.h"
#include "session/record.h"

namespace tacho {

// What is known before a recording's start of what it will write, and the window that follows.

// Gives the workers of `session` their figures: those that are kept of earlier recordings where
// all of these engines were profiled before, else those of a trial. Those that die in it are the
// recording's troubles; false when it has to end for that.
bool FindFiguresOf(HttpClient& client, const RecordOptions& options, RecordObserver& observer,
                   Recording& recording, ProfilerSession& session, std::stop_token stop);

// Plans the window of the workers by `rates`, their steps a second (absent: not told), and their
// start requests after it. Says it, and what else is known: the room that it takes, tables that
// cost most of the flush, engines whose own bounds end it sooner.
void PlanRecording(const RecordOptions& options, RecordObserver& observer,
                   const std::vector<std::optional<double>>& rates,
                   std::optional<double> requests_per_s, Recording& recording);

// Steps a second of each worker between two looks at its metrics; of its busiest engine.
std::vector<std::optional<double>> StepRates(
    const std::vector<std::optional<MetricsSnapshot>>& before,
    const std::vector<std::optional<MetricsSnapshot>>& after);

// What was recorded, by the files: into the workers, and kept for later recordings.
void KeepRecorded(Recording& recording, const std::vector<TraceEvidence>& traces);

}  // namespace tacho
