#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/live/probe.h"

namespace tacho {

// One line of a Prometheus text: name{label="value",...} number.
struct MetricSample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

// The samples in a text of Prometheus' exposition format 0.0.4, in their order. Reads leniently:
// skips comments and invalid lines.
std::vector<MetricSample> ParsePrometheus(std::string_view text);

// The counters of each engine behind a server, sorted by engine, from vLLM's or SGLang's metrics.
std::vector<EngineCounters> CountersIn(const std::vector<MetricSample>& samples);

}  // namespace tacho
