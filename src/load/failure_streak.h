#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace tacho {

// The failures in a row of a lane: how long to wait after each.
class FailureStreak {
 public:
  void Count(bool failed) {
    if (!failed) any_success_ = true;
    in_row_ = failed ? in_row_ + 1 : 0;
  }

  // After the failure that was counted last: as long as the server says, up to a minute, else from
  // 10 ms on twice as long each time, up to 1 s. `retry_after_s` < 0: it says nothing.
  int64_t PauseNs(int64_t retry_after_s) const {
    if (retry_after_s >= 0) return std::min(retry_after_s, kMostRetryAfterS) * kNsPerSecond;
    const auto doublings = std::min<uint64_t>(in_row_ - 1, 10);
    return std::min(kFirstPauseNs << doublings, kMostPauseNs);
  }

  uint64_t in_row() const { return in_row_; }
  // Something was tried, and nothing has ever succeeded.
  bool OnlyFailures() const { return !any_success_ && in_row_ > 0; }

 private:
  static constexpr int64_t kFirstPauseNs = 10 * kNsPerMs, kMostPauseNs = kNsPerSecond;
  static constexpr int64_t kMostRetryAfterS = 60;

  uint64_t in_row_ = 0;
  bool any_success_ = false;
};

}  // namespace tacho
