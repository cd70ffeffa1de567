#pragma once

#include "model/work_times.h"
#include "stats/stats_trace.h"

namespace tacho {

// Adds the times of the trace's rows to `times`, as far as gpu, gpu_details, calls and os_calls of
// `needs` ask for them.
void AddTimesOf(const StatsTrace& trace, StatsTrace::Needs needs, WorkTimes& times);

}  // namespace tacho
