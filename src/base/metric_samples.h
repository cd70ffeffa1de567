#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace tacho
