#include "simulate/server_loop.h"

#include <time.h>

#include <utility>

#include "base/monotonic_clock.h"

namespace tacho::simulate {
namespace {

int64_t UnixNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

ServerLoop::ServerLoop(HttpServer& server, size_t most_threads)
    : server_(server),
      unix_offset_ns_(UnixNow() - MonotonicNs()),
      pool_(std::make_unique<FlushPool>(most_threads)) {}

int64_t ServerLoop::NowNs() const { return MonotonicNs(); }

void ServerLoop::Post(std::function<void()> job) {
  if (!closed_) server_.Post(std::move(job));
}
void ServerLoop::At(int64_t monotonic_ns, std::function<void()> job) {
  if (!closed_) server_.At(monotonic_ns, std::move(job));
}

void ServerLoop::Away(std::function<void(std::stop_token)> work, std::function<void()> done) {
  const std::lock_guard lock(mutex_);
  if (!pool_) return;
  pool_->Run([this, work = std::move(work), done = std::move(done)](std::stop_token stop) mutable {
    work(std::move(stop));
    Post(std::move(done));
  });
}

void ServerLoop::Close() {
  closed_ = true;
  std::unique_ptr<FlushPool> pool;
  {
    const std::lock_guard lock(mutex_);
    pool = std::move(pool_);
  }
}

}  // namespace tacho::simulate
