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

// Waits for a file descriptor to become readable or writable.
class FdWatcher {
 public:
  virtual ~FdWatcher() = default;
  // `events` as epoll_wait gives them. May unwatch any descriptor, also its own.
  virtual void OnReady(int fd, uint32_t events) = 0;
};

// One thread that waits for descriptors (epoll), times (timerfd) and jobs of other threads
// (eventfd). Both the HTTP client and the HTTP server use one.
//
// Jobs and watchers run on the loop's thread, one at a time. The thread blocks all signals, which
// are for the program's other threads; a write to a closed pipe is an error.
class EventLoop {
 public:
  using Job = std::function<void()>;

  // kOutput: no more descriptors. The first loop raises the program's limit of them to the maximum.
  static Result<std::unique_ptr<EventLoop>> Create();
  // Starts the thread. `name`, up to 15 bytes, is what `top -H` shows. `between` is called after
  // jobs and after at most kBatch descriptors, for work that is cheaper when done for many at once.
  void Start(const char* name, Job between);
  ~EventLoop();  // stops it

  // From any thread. Jobs run in the order of the calls, and so do timed jobs of the same time.
  void Post(Job job);
  void At(int64_t monotonic_ns, Job job);
  bool OnThread() const { return std::this_thread::get_id() == thread_.get_id(); }
  // Runs the posted jobs, and those that they post, and ends the thread. Drops timed jobs that are
  // not due. Not from the loop's own thread.
  void Stop();

  // On the loop's thread only. Call Watch again to change the events; `watcher` must live until
  // Unwatch. A descriptor that cannot be watched is ready at once, with EPOLLERR.
  void Watch(int fd, uint32_t events, FdWatcher* watcher);
  void Unwatch(int fd);
  // When the current descriptors were found ready.
  int64_t ready_ns() const { return ready_ns_; }
  // The number of the current poll, and the time since the previous one. In that time the thread
  // slept, was busy, or waited for a core.
  uint64_t look() const { return look_; }
  int64_t since_last_look_ns() const { return since_last_look_ns_; }

 private:
  static constexpr int kBatch = 16;  // descriptors served between two checks of jobs and times
  static constexpr int kRound = 64;  // descriptors of one epoll_wait: they share a time

  struct Timed {
    int64_t at_ns;
    uint64_t order;
    Job job;
  };
  static bool Later(const Timed& a, const Timed& b);
  // A descriptor's number may be reused while events of its former use are still to be served.
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
  void ServeReady(int most_ms);  // -1: waits

  Job between_;
  FileDescriptor epoll_;
  FileDescriptor wake_;
  FileDescriptor timer_;
  std::vector<Slot> slots_;   // by descriptor
  std::vector<Timed> timed_;  // a heap, the earliest first
  uint64_t timed_count_ = 0;
  int64_t armed_ns_ = INT64_MAX;  // the time that the timerfd is set to
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
