#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tacho {

// Runs jobs on a few threads, in the order in which they were added.
class WorkQueue {
 public:
  using Job = std::function<void()>;

  // `most`: how many jobs may wait.
  WorkQueue(size_t threads, size_t most);
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;
  // Drops the waiting jobs, and waits for the running ones.
  ~WorkQueue();

  // False if too many jobs wait.
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
