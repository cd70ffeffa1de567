#pragma once

#include <cstdint>
#include <string>

namespace tacho {

// CLOCK_MONOTONIC and Unix time, read at the same moment. The pair turns CLOCK_MONOTONIC times into
// Unix times.
struct ClockPair {
  int64_t monotonic_ns = 0;
  int64_t unix_ns = 0;
};
ClockPair ReadClocks();

// In the form "20261121-183000", in local time.
std::string DateStamp(int64_t unix_ns);
// In the form "18:30:00", in local time.
std::string TimeOfDay(int64_t unix_ns);

}  // namespace tacho
