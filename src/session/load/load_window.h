#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "load/drive/drive.h"
#include "load/result/distribution.h"

namespace tacho {

// What the load did in one window of time.
struct LoadWindow {
  std::string scenario = {};         // "": all scenarios
  int64_t begin_ns = 0, end_ns = 0;  // CLOCK_MONOTONIC
  uint64_t requests_done = 0, requests_failed = 0, output_tokens = 0;
  std::vector<uint64_t> tokens_in_parts;  // in each of ten equal parts of the window
  // Median and 99th percentile, in ns. TTFT: of requests whose first token came in the window.
  // TPOT: of requests that are done and got all their tokens in the window.
  Distribution ttft, tpot;
  std::vector<LoadWindow> scenarios;  // the same for each scenario, by name, if there are several
  std::optional<double> TokensPerSecond() const;
  // The standard error of TokensPerSecond, as a share of TokensPerSecond. Estimated from the
  // differences between the numbers in tokens_in_parts.
  std::optional<double> StandardError() const;
};
LoadWindow MeasureWindow(const LoadRecords& records, int64_t begin_ns, int64_t end_ns);

}  // namespace tacho
