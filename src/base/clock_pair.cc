#include "base/clock_pair.h"

#include <ctime>

#include "base/monotonic_clock.h"

namespace tacho {
namespace {

std::string LocalTime(int64_t unix_ns, const char* form) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof(text), form, &local);
  return text;
}

}  // namespace

ClockPair ReadClocks() {
  // Reads the monotonic clock before and after the other one. The middle of the two readings is off
  // by at most half of their difference.
  const int64_t before = MonotonicNs();
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const int64_t after = MonotonicNs();
  return {before + (after - before) / 2, int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec};
}

std::string DateStamp(int64_t unix_ns) { return LocalTime(unix_ns, "%Y%m%d-%H%M%S"); }
std::string TimeOfDay(int64_t unix_ns) { return LocalTime(unix_ns, "%H:%M:%S"); }

}  // namespace tacho
