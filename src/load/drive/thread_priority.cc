#include "load/drive/thread_priority.h"

#include <linux/sched.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/monotonic_clock.h"
#include "base/time.h"

namespace tacho {
namespace {

constexpr int64_t kStuckNs = kNsPerSecond / 2;

}  // namespace

std::string_view PriorityName(Priority priority) {
  switch (priority) {
    case Priority::kNormal:
      return "normal";
    case Priority::kRealTime:
      return "real-time";
    case Priority::kRefused:
      return "refused";
    case Priority::kEased:
      return "eased";
  }
  return "";
}

// glibc before 2.41 has no wrapper for sched_getattr and sched_setattr.
bool ThreadPriority::Get(pid_t thread, Attributes& attributes) {
  return syscall(SYS_sched_getattr, thread, &attributes, sizeof(attributes), 0) == 0;
}

bool ThreadPriority::Set(pid_t thread, const Attributes& attributes) {
  return syscall(SYS_sched_setattr, thread, &attributes, 0) == 0;
}

void ThreadPriority::Raise() {
  thread_ = gettid();
  if (pthread_getcpuclockid(pthread_self(), &cpu_clock_) != 0 || !Get(thread_, before_)) return;
  // Keep a policy that the parent process has set.
  if (before_.policy != SCHED_NORMAL) return;
  second_ns_ = MonotonicNs();
  second_cpu_ns_ = CpuNs();
  looked_ns_ = second_ns_;
  cpu_at_look_ns_ = second_cpu_ns_;
  Attributes raised;
  raised.policy = SCHED_RR;
  raised.flags = SCHED_FLAG_RESET_ON_FORK;
  raised.priority = 1;
  raised_ = Set(thread_, raised);
  priority_ = raised_ ? Priority::kRealTime : Priority::kRefused;
}

void ThreadPriority::Look(int64_t now_ns) {
  if (!raised_) return;
  const int64_t cpu_ns = CpuNs();
  looked_ns_ = now_ns;
  cpu_at_look_ns_ = cpu_ns;
  if (now_ns - second_ns_ < kNsPerSecond) return;
  if (cpu_ns - second_cpu_ns_ > (now_ns - second_ns_) / 2) Ease();
  second_ns_ = now_ns;
  second_cpu_ns_ = cpu_ns;
}

void ThreadPriority::EaseIfStuck(int64_t now_ns) {
  if (raised_ && now_ns - looked_ns_ > kStuckNs && CpuNs() - cpu_at_look_ns_ > kStuckNs) Ease();
}

void ThreadPriority::Ease() {
  Restore();
  priority_ = Priority::kEased;
}

void ThreadPriority::Restore() {
  if (!raised_.exchange(false) || Set(thread_, before_)) return;
  // Without the privilege, the kernel does not let us clear SCHED_FLAG_RESET_ON_FORK, so keep it.
  // It has no effect on normal threads.
  before_.flags |= SCHED_FLAG_RESET_ON_FORK;
  Set(thread_, before_);
}

int64_t ThreadPriority::CpuNs() const {
  timespec used{};
  clock_gettime(cpu_clock_, &used);
  return int64_t{used.tv_sec} * kNsPerSecond + used.tv_nsec;
}

}  // namespace tacho
