#pragma once

#include <optional>
#include <vector>

#include "control/live/probe.h"
#include "session/recording.h"

namespace tacho {

// Plans the window from `rates` (steps a second of each worker; absent: not known), then the start
// request of each worker. Reports to the observer what to expect: the disk space of the recording,
// profiler tables that make the flush slow, engines whose own limits end the window sooner.
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
