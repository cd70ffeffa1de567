#pragma once

#include <cstdint>
#include <vector>

#include "load/drive/drive.h"

namespace tacho {

// Measures how late the calling thread runs due jobs, and how much of a core it uses.
class LoopWatch {
 public:
  static constexpr int64_t kPeriodNs = 50'000'000;

  void Begin(int64_t now_ns);
  // Call it once each period. Returns true once a second.
  bool Look(int64_t due_ns, int64_t now_ns);
  ClientHealth End(int64_t now_ns);

 private:
  void CloseSecond(int64_t now_ns);

  int64_t begin_ns_ = 0, begin_cpu_ns_ = 0, second_ns_ = 0, second_cpu_ns_ = 0;
  std::vector<int64_t> lags_ns_;
  double most_cpu_share_ = 0;
};

}  // namespace tacho
