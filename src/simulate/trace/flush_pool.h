#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace tacho::simulate {

// A pool of threads for blocking work (writing traces). While jobs wait, it starts more threads, up
// to a bound, so that slow jobs do not delay others.
class FlushPool {
 public:
  explicit FlushPool(size_t most_threads) : most_threads_(most_threads) {}
  ~FlushPool();  // asks running jobs to stop and drops waiting ones

  void Run(std::function<void(std::stop_token)> job);

 private:
  void Work(const std::stop_token& stop);

  size_t most_threads_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void(std::stop_token)>> jobs_;
  size_t idle_ = 0;
  std::vector<std::jthread> threads_;
};

}  // namespace tacho::simulate
