#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/device_totals.h"

namespace tacho {

// A cost of device time, and so the most that the window can shrink without it: parts of the window
// that do not overlap.
struct Ceiling {
  std::string what;  // "idle: host-late"
  DurationNs time;
  std::optional<IdleCause> cause = {};  // of idle time
};
// Longest first: the causes of idle time but for missing requests, exposed communication, exposed
// copies.
std::vector<Ceiling> CeilingsOf(const IdleTable& idle, const DeviceTotals& totals);

}  // namespace tacho
