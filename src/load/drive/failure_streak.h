#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace tacho {

// Counts a lane's failures in a row, and tells how long to wait after each and when to give up.
class FailureStreak {
 public:
  void Count(bool failed, int64_t now_ns) {
    if (!failed) any_success_ = true;
    if (in_row_ == 0) since_ns_ = now_ns;
    in_row_ = failed ? in_row_ + 1 : 0;
  }

  // How long to wait after the last counted failure: as long as the server says, up to a minute,
  // else 10 ms, doubled with each further failure, up to 1 s. `retry_after_s` < 0: the server does
  // not say.
  int64_t PauseNs(int64_t retry_after_s) const {
    if (retry_after_s >= 0) return std::min(retry_after_s, kMostRetryAfterS) * kNsPerSecond;
    const auto doublings = std::min<uint64_t>(in_row_ - 1, 10);
    return std::min(kFirstPauseNs << doublings, kMostPauseNs);
  }

  uint64_t in_row() const { return in_row_; }
  // Whether the lane has failed without a success for so long that it should be given up: for some
  // seconds if none of its requests ever succeeded, else for as long as a server may need to come
  // back.
  bool IsHopeless(int64_t now_ns) const {
    return in_row_ > 0 && now_ns - since_ns_ >= (any_success_ ? kMostAbsenceNs : kHopelessNs);
  }

 private:
  static constexpr int64_t kFirstPauseNs = 10 * kNsPerMs, kMostPauseNs = kNsPerSecond;
  static constexpr int64_t kMostRetryAfterS = 60;
  static constexpr int64_t kHopelessNs = 3 * kNsPerSecond, kMostAbsenceNs = 120 * kNsPerSecond;

  uint64_t in_row_ = 0;
  int64_t since_ns_ = 0;  // time of the first failure in a row
  bool any_success_ = false;
};

}  // namespace tacho
