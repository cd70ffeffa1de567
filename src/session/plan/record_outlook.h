#pragma once

#include <optional>
#include <vector>

#include "control/live/probe.h"
#include "session/recording.h"

namespace tacho {

// Plans the window by `rates`, the workers' steps a second (absent: not known), and then the
// workers' start requests for it. Remarks what to expect: the room that the recording takes, tables
// that cost most of the flush, engines whose own bounds end it sooner.
void PlanRecording(const RecordOptions& options, RecordObserver& observer,
                   const std::vector<std::optional<double>>& rates,
                   std::optional<double> requests_per_s, Recording& recording);

// The start request of the worker for the recording's window, under the worker's present key.
void PlanStartOf(RecordedWorker& worker, const WindowPlan& plan);

// Steps a second of each worker's busiest engine between two looks at the worker's metrics.
std::vector<std::optional<double>> StepRates(
    const std::vector<std::optional<MetricsSnapshot>>& before,
    const std::vector<std::optional<MetricsSnapshot>>& after);

}  // namespace tacho
