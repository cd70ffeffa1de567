#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "net/http_server.h"
#include "simulate/engine/loop.h"
#include "simulate/trace/flush_pool.h"

namespace tacho::simulate {

// A Loop on the thread of an HTTP server, in real time. Blocking work runs on other threads.
class ServerLoop : public Loop {
 public:
  ServerLoop(HttpServer& server, size_t most_threads);
  ~ServerLoop() override { Close(); }

  int64_t NowNs() const override;
  int64_t UnixNs(int64_t monotonic_ns) const override { return monotonic_ns + unix_offset_ns_; }
  void Post(std::function<void()> job) override;
  void At(int64_t monotonic_ns, std::function<void()> job) override;
  void Away(std::function<void(std::stop_token)> work, std::function<void()> done) override;

  // Ends the other threads; work that comes later is dropped.
  void Close();

 private:
  HttpServer& server_;
  int64_t unix_offset_ns_;
  std::atomic<bool> closed_ = false;
  std::mutex mutex_;  // guards pool_
  std::unique_ptr<FlushPool> pool_;
};

}  // namespace tacho::simulate
