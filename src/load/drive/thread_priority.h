#pragma once

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace tacho {

// What became of a thread's wish to run as soon as it has work.
enum class Priority {
  kNormal,    // it has none
  kRealTime,  // the lowest of SCHED_RR: before all threads that are not real-time
  kRefused,   // the system did not permit that
  kEased,     // it had that and gave it back: it took too much of a core
};

std::string_view PriorityName(Priority priority);  // "real-time"

// Real-time priority for a thread that sleeps most of the time. Without it such a thread stands in
// a core's queue beside an engine that spins there, for a tenth of a second and longer where the
// two belong to different groups (sessions, containers); niceness counts within a group alone.
//
// So that nothing starves, the thread gives it back when it uses more than half a core, another
// thread can take it away, and threads that it starts do not have it.
class ThreadPriority {
 public:
  ThreadPriority() = default;
  ThreadPriority(const ThreadPriority&) = delete;
  ThreadPriority& operator=(const ThreadPriority&) = delete;
  ~ThreadPriority() { Restore(); }

  // Of the calling thread, once.
  void Raise();
  // On that thread, several times a second: it may have to give the priority back.
  void Look(int64_t now_ns);
  // Any thread: the other one worked for half a second and did not look, so it has to give the
  // priority back.
  void EaseIfStuck(int64_t now_ns);
  // Any thread: the scheduling is as it was before Raise.
  void Restore();

  Priority priority() const { return priority_; }

 private:
  // As the kernel has it (sched_setattr(2)), first version.
  struct Attributes {
    uint32_t size = 48;
    uint32_t policy = 0;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 0, deadline = 0, period = 0;
  };
  static bool Get(pid_t thread, Attributes& attributes);
  static bool Set(pid_t thread, const Attributes& attributes);
  int64_t CpuNs() const;
  void Ease();

  std::atomic<Priority> priority_ = Priority::kNormal;
  std::atomic<bool> raised_ = false;
  pid_t thread_ = 0;
  clockid_t cpu_clock_ = 0;
  Attributes before_;
  std::atomic<int64_t> looked_ns_ = 0, cpu_at_look_ns_ = 0;
  int64_t second_ns_ = 0, second_cpu_ns_ = 0;
};

}  // namespace tacho
