#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace tacho {

// Is called when a file descriptor becomes readable or writable.
class FdWatcher {
 public:
  virtual ~FdWatcher() = default;
  // `events`: as epoll_wait gives them. It may unwatch any descriptor, including `fd`.
  virtual void OnReady(int fd, uint32_t events) = 0;
};

// One thread that waits for descriptors (epoll), times (timerfd) and jobs from other threads
// (eventfd). The HTTP client and the HTTP server each run on one.
//
// Jobs and watchers run on the loop's thread, one at a time. That thread blocks all signals, so the
// program's other threads get them; writing to a closed pipe gives an error instead of a signal.
class EventLoop {
 public:
  using Job = std::function<void()>;

  // kOutput: no descriptors are left. The first loop raises the program's descriptor limit to the
  // maximum.
  static Result<std::unique_ptr<EventLoop>> Create();
  // Starts the thread. `name`, up to 15 bytes, is what `top -H` shows. `between` is called after
  // jobs and after at most kBatch descriptors, for work that is cheaper in batches.
  void Start(const char* name, Job between);
  ~EventLoop();  // stops the thread

  // From any thread. Jobs run in the order of the calls; so do timed jobs with equal times.
  void Post(Job job);
  void At(int64_t monotonic_ns, Job job);
  bool OnThread() const { return std::this_thread::get_id() == thread_.get_id(); }
  // Runs the posted jobs, and those that they post in turn, then ends the thread. Drops timed jobs
  // that are not due. Not from the loop's own thread.
  void Stop();

  // On the loop's thread only. Call Watch again to change the events; `watcher` must live until
  // Unwatch. If a descriptor cannot be watched, OnReady gets EPOLLERR at once.
  void Watch(int fd, uint32_t events, FdWatcher* watcher);
  void Unwatch(int fd);
  // When the poll returned that found the current descriptors ready.
  int64_t ready_ns() const { return ready_ns_; }
  // `look`: the number of the current poll. `since_last_look_ns`: the time since the poll before
  // it, in which the thread slept, was busy, or waited for a core.
  uint64_t look() const { return look_; }
  int64_t since_last_look_ns() const { return since_last_look_ns_; }

 private:
  static constexpr int kBatch = 16;  // descriptors served before jobs and timers are checked again
  static constexpr int kRound = 64;  // most descriptors of one epoll_wait; they share one time

  struct Timed {
    int64_t at_ns;
    uint64_t order;
    Job job;
  };
  static bool Later(const Timed& a, const Timed& b);
  // The generation changes when a descriptor's number is reused, so that events of its former owner
  // can be told from those of the new one.
  struct Slot {
    FdWatcher* watcher = nullptr;
    uint32_t generation = 0;
  };

  EventLoop() = default;
  void Run();
  bool RunJobs();
  void AddTimed(int64_t at_ns, Job job);
  void RunDue();
  void Arm();
  void Wake();
  void ServeReady(int most_ms);  // -1: waits without limit

  Job between_;
  FileDescriptor epoll_;
  FileDescriptor wake_;
  FileDescriptor timer_;
  std::vector<Slot> slots_;   // indexed by descriptor
  std::vector<Timed> timed_;  // a heap, the earliest first
  uint64_t timed_count_ = 0;
  int64_t armed_ns_ = INT64_MAX;  // the time to which the timerfd is set
  int64_t ready_ns_ = 0;
  uint64_t look_ = 0;
  int64_t looked_ns_ = 0, since_last_look_ns_ = 0;
  std::vector<Job> running_;
  std::mutex mutex_;
  std::vector<Job> posted_;
  std::atomic<bool> has_posted_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace tacho
