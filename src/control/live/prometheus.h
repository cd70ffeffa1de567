#pragma once

#include <vector>

#include "base/metric_samples.h"
#include "control/live/probe.h"

namespace tacho {

// The counters of each engine behind a server, sorted by engine, from vLLM's or SGLang's metrics.
std::vector<EngineCounters> CountersIn(const std::vector<MetricSample>& samples);

}  // namespace tacho
