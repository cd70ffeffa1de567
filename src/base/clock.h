#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace tacho {

// Time for code that waits or has a deadline. A test passes a clock that it controls
// (clock_for_test.h), with which waits take no time. All threads may use it.
class Clock {
 public:
  virtual ~Clock() = default;
  // Reads CLOCK_MONOTONIC, except in tests.
  [[nodiscard]] virtual int64_t NowNs() const = 0;
  // Waits for `time`. If `stop` is requested, stops waiting at once and returns false.
  virtual bool Pause(const std::stop_token& stop, std::chrono::milliseconds time) = 0;
};

Clock& SystemClock();

}  // namespace tacho
