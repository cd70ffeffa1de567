#include "base/parallel.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>
#include <vector>

namespace tacho {

void ParallelFor(size_t count, size_t threads, const std::function<void(size_t)>& job) {
  if (threads == 0) threads = CoreCount();
  threads = std::min(threads, count);
  if (threads <= 1) {
    for (size_t i = 0; i < count; ++i) job(i);
    return;
  }
  std::atomic<size_t> next = 0;
  std::vector<std::exception_ptr> failures(count);
  {
    std::vector<std::jthread> workers;
    workers.reserve(threads);
    for (size_t t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        for (size_t i = next++; i < count; i = next++) {
          try {
            job(i);
          } catch (...) {
            failures[i] = std::current_exception();
          }
        }
      });
    }
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

void RunAll(const std::vector<std::function<void()>>& jobs, size_t threads) {
  ParallelFor(jobs.size(), threads, [&](size_t i) { jobs[i](); });
}

size_t CoreCount() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<size_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace tacho
