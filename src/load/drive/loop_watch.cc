#include "load/drive/loop_watch.h"

#include <time.h>

#include <algorithm>

namespace tacho {
namespace {

int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

double Share(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

}  // namespace

void LoopWatch::Begin(int64_t now_ns) {
  begin_ns_ = second_ns_ = now_ns;
  begin_cpu_ns_ = second_cpu_ns_ = ThreadCpuNs();
}

bool LoopWatch::Look(int64_t due_ns, int64_t now_ns) {
  lags_ns_.push_back(std::max<int64_t>(0, now_ns - due_ns));
  if (now_ns - second_ns_ < 1'000'000'000) return false;
  CloseSecond(now_ns);
  return true;
}

void LoopWatch::CloseSecond(int64_t now_ns) {
  const int64_t cpu = ThreadCpuNs();
  most_cpu_share_ = std::max(most_cpu_share_, Share(cpu - second_cpu_ns_, now_ns - second_ns_));
  second_ns_ = now_ns;
  second_cpu_ns_ = cpu;
}

ClientHealth LoopWatch::End(int64_t now_ns) {
  ClientHealth health;
  health.cpu_share = Share(ThreadCpuNs() - begin_cpu_ns_, now_ns - begin_ns_);
  health.most_cpu_share = std::max(most_cpu_share_, health.cpu_share);
  if (lags_ns_.empty()) return health;
  std::sort(lags_ns_.begin(), lags_ns_.end());
  health.lag_max_ns = lags_ns_.back();
  health.lag_p99_ns = lags_ns_[(lags_ns_.size() - 1) * 99 / 100];
  return health;
}

}  // namespace tacho
