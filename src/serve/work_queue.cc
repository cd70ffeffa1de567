#include "serve/work_queue.h"

#include <utility>

namespace tacho {

WorkQueue::WorkQueue(size_t threads, size_t most) : most_(most) {
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkQueue::~WorkQueue() {
  {
    const std::lock_guard lock(mutex_);
    end_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkQueue::Add(Job job) {
  {
    const std::lock_guard lock(mutex_);
    if (jobs_.size() >= most_) return false;
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
  return true;
}

void WorkQueue::Run() {
  while (true) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return end_ || !jobs_.empty(); });
    if (end_) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job();
  }
}

}  // namespace tacho
