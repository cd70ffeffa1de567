#pragma once

#include <chrono>
#include <cstdint>
#include <stop_token>

namespace tacho {

// Time for whoever waits or has a deadline. A test gives one that it holds (clock_for_test.h): then
// waits take no time. All threads may use it.
class Clock {
 public:
  virtual ~Clock() = default;
  // CLOCK_MONOTONIC, if no test holds it.
  [[nodiscard]] virtual int64_t NowNs() const = 0;
  // Waits for `time`, or until `stop` is requested: then false.
  virtual bool Pause(const std::stop_token& stop, std::chrono::milliseconds time) = 0;
};

Clock& SystemClock();

}  // namespace tacho
