#pragma once

#include "model/work_times.h"
#include "stats/stats_trace.h"

namespace tacho {

// Adds the times of the trace's rows to `times`. Only rows that `needs` asks for are added (its
// members gpu, gpu_details, calls and os_calls).
void AddTimesOf(const StatsTrace& trace, StatsTrace::Needs needs, WorkTimes& times);

}  // namespace tacho
