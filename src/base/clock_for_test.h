#pragma once

#include <atomic>
#include <functional>
#include <utility>

#include "base/clock.h"

namespace tacho {

// A clock for tests: a wait advances it and takes no time.
class HeldClock : public Clock {
 public:
  // Called after each wait, by the thread that waits.
  std::function<void()> after_wait;

  int64_t NowNs() const override { return now_ns_; }
  bool Pause(const std::stop_token& stop, std::chrono::milliseconds time) override {
    Move(time);
    if (after_wait) after_wait();
    return !stop.stop_requested();
  }
  void Move(std::chrono::milliseconds time) { now_ns_ += std::chrono::nanoseconds(time).count(); }

 private:
  std::atomic<int64_t> now_ns_ = 1'000'000'000;
};

}  // namespace tacho
