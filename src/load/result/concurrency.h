#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "load/result/records.h"

namespace tacho {

// The number of in-flight requests over time, from sending to end.
struct Concurrency {
  uint64_t peak = 0;
  double mean = 0;                  // over time, from the first sending to the last end
  std::vector<double> each_second;  // the mean of each second from the start of the load
};
Concurrency ConcurrencyOf(std::span<const RequestRecord> requests, int64_t started_ns);

// The half-open interval in which the load was at its level.
struct SteadyWindow {
  int64_t from_ns = 0, to_ns = 0;
  double level = 0;  // in-flight requests
};
// From the first to the last moment with 95 % of the level in flight. The level is the median over
// time of the in-flight requests between the first and the last sending, or the limit of in-flight
// requests if the median is within 5 % of it. (Users who pause between requests reach the limit
// only when they begin, so the level is not simply the limit.) Absent if nothing was sent.
std::optional<SteadyWindow> SteadyWindowOf(std::span<const RequestRecord> requests,
                                           uint64_t most_at_once);

}  // namespace tacho
