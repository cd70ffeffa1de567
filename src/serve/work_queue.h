#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tacho {

// Jobs for a few threads, in the order in which they come.
class WorkQueue {
 public:
  using Job = std::function<void()>;

  // At most `most` jobs wait.
  WorkQueue(size_t threads, size_t most);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  // Drops the waiting jobs, and waits for those that run.
  ~WorkQueue();

  // False: too many wait.
  bool Add(Job job);

 private:
  void Run();

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;
  bool end_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace tacho
