#pragma once

#include <optional>
#include <vector>

#include "control/live/probe.h"
#include "session/recording.h"

namespace tacho {

// Plans the window, and then the start request of each worker, from `rates` (each worker's steps
// per second; absent: not known). Tells the observer what to expect: the disk space of the
// recording, profiler tables that make the flush slow, and engines whose own limits end the window
// sooner.
void PlanRecording(const RecordOptions& options, RecordObserver& observer,
                   const std::vector<std::optional<double>>& rates,
                   std::optional<double> requests_per_s, Recording& recording);

// Plans the worker's start request for this window, with the worker's current key.
void PlanStartOf(RecordedWorker& worker, const WindowPlan& plan);

// Steps per second of each worker's busiest engine, from two looks at the worker's metrics.
std::vector<std::optional<double>> StepRates(
    const std::vector<std::optional<MetricsSnapshot>>& before,
    const std::vector<std::optional<MetricsSnapshot>>& after);

}  // namespace tacho
