#pragma once

#include "model/work_times.h"
#include "stats/stats_trace.h"

namespace tacho {

// Adds the times of the trace's rows, as far as `needs` asks for them: gpu, gpu_details, calls,
// os_calls.
void AddTimesOf(const StatsTrace& trace, StatsTrace::Needs needs, WorkTimes& times);

}  // namespace tacho
