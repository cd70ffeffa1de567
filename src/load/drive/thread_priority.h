#pragma once

#include <sys/types.h>
#include <time.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace tacho {

// How a thread that should run as soon as it has work is scheduled.
enum class Priority {
  kNormal,    // not requested
  kRealTime,  // SCHED_RR at its lowest priority, above all threads that are not real-time
  kRefused,   // the system did not permit real-time priority
  kEased,     // the thread gave real-time priority back, because it used too much of a core
};

std::string_view PriorityName(Priority priority);  // "real-time"

// Real-time priority for a thread that sleeps most of the time. Without it, such a thread waits in
// a core's queue while an engine spins on that core, for a tenth of a second. It waits longer if
// the two belong to different groups (sessions, containers): a nice value cannot help then, because
// it counts only within a group.
//
// Other threads must not starve. So the thread gives the priority back if it uses more than half a
// core, another thread can revoke it, and threads that the thread starts do not inherit it.
class ThreadPriority {
 public:
  ThreadPriority() = default;
  ThreadPriority(const ThreadPriority&) = delete;
  ThreadPriority& operator=(const ThreadPriority&) = delete;
  ~ThreadPriority() { Restore(); }

  // Gives the calling thread real-time priority. Call it once.
  void Raise();
  // Call it on the raised thread several times a second: it may give the priority back.
  void Look(int64_t now_ns);
  // Revokes the priority if the raised thread has worked for half a second without calling Look.
  // May be called from any thread.
  void EaseIfStuck(int64_t now_ns);
  // Restores the scheduling from before Raise. May be called from any thread.
  void Restore();

  Priority priority() const { return priority_; }

 private:
  // The first version of the kernel's struct sched_attr (sched_setattr(2)).
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
