#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "load/result/records.h"

namespace tacho {

// How many requests are in flight over time. A request is in flight from its sending to its end.
struct Concurrency {
  uint64_t peak = 0;
  double mean = 0;                  // average over time from the first sending to the last end
  std::vector<double> each_second;  // the average of each second from the start of the load
};
Concurrency ConcurrencyOf(std::span<const RequestRecord> requests, int64_t started_ns);

// The half-open interval in which the load was at its full level.
struct SteadyWindow {
  int64_t from_ns = 0, to_ns = 0;
  double level = 0;  // in-flight requests
};
// The window reaches from the first to the last moment with at least 95 % of the level in flight.
// The level is the median over time of the number of in-flight requests between the first and the
// last sending, or the limit of in-flight requests if the median is within 5 % of it. (The level is
// not simply the limit, because users who pause between requests reach the limit only when they
// begin.) Absent if nothing was sent.
std::optional<SteadyWindow> SteadyWindowOf(std::span<const RequestRecord> requests,
                                           uint64_t most_at_once);

}  // namespace tacho
