#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "load/result/records.h"

namespace tacho {

// How many requests were under way, from their sending to their end, by the sweep of all of them.
struct Concurrency {
  uint64_t peak = 0;
  double mean = 0;                  // over time, from the first sending to the last end
  std::vector<double> each_second;  // the mean of each second from the start of the load
};
Concurrency ConcurrencyOf(std::span<const RequestRecord> requests, int64_t started_ns);

// The stretch of time in which the load was at its level, half-open.
struct SteadyWindow {
  int64_t from_ns = 0, to_ns = 0;
  double level = 0;  // requests under way that it takes
};
// From the first moment at which 95 % of the level were under way to the last one. The level is
// what was under way in the median of the time between the first and the last sending; the bound of
// requests at once where that was within 5 % of it. (Users who think between requests reach the
// bound in the moment in which they begin, and never again.) Absent when nothing was sent.
std::optional<SteadyWindow> SteadyWindowOf(std::span<const RequestRecord> requests,
                                           uint64_t most_at_once);

}  // namespace tacho
