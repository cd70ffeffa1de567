#pragma once

#include <optional>
#include <vector>

#include "control/live/probe.h"
#include "session/recording.h"

namespace tacho {

// Plans the window of the workers by `rates`, their steps a second (absent: not known), and their
// start requests after it. Says what it will come to: the room that it takes, tables that cost most
// of the flush, engines whose own bounds end it sooner.
void PlanRecording(const RecordOptions& options, RecordObserver& observer,
                   const std::vector<std::optional<double>>& rates,
                   std::optional<double> requests_per_s, Recording& recording);

// The start request of the worker for the recording's window, under the worker's present key.
void PlanStartOf(RecordedWorker& worker, const WindowPlan& plan);

// Steps a second of each worker between two looks at its metrics; of its busiest engine.
std::vector<std::optional<double>> StepRates(
    const std::vector<std::optional<MetricsSnapshot>>& before,
    const std::vector<std::optional<MetricsSnapshot>>& after);

}  // namespace tacho
