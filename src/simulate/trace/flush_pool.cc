#include "simulate/trace/flush_pool.h"

namespace tacho::simulate {

FlushPool::~FlushPool() {
  {
    const std::lock_guard lock(mutex_);
    jobs_.clear();
  }
  for (std::jthread& thread : threads_) thread.request_stop();
  changed_.notify_all();
  threads_.clear();
}

void FlushPool::Run(std::function<void(std::stop_token)> job) {
  const std::lock_guard lock(mutex_);
  jobs_.push_back(std::move(job));
  if (jobs_.size() > idle_ && threads_.size() < most_threads_) {
    threads_.emplace_back([this](const std::stop_token& stop) { Work(stop); });
  }
  changed_.notify_one();
}

void FlushPool::Work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    const bool has_job = changed_.wait(lock, stop, [this] { return !jobs_.empty(); });
    --idle_;
    if (!has_job || stop.stop_requested()) return;
    const auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job(stop);
    lock.lock();
  }
}

}  // namespace tacho::simulate
