#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/device_totals.h"

namespace tacho {

// A cost of device time: the most that the window can shrink if this cost is removed. Ceilings are
// parts of the window that do not overlap.
struct Ceiling {
  std::string what;  // "idle: host-late"
  DurationNs time;
  std::optional<IdleCause> cause = {};  // of idle time
};
// Longest first: exposed communication, exposed copies, and the causes of idle time except
// IdleCause::kNoRequest.
std::vector<Ceiling> CeilingsOf(const IdleTable& idle, const DeviceTotals& totals);

}  // namespace tacho
