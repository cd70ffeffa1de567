#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/http_server.h"

namespace tacho {

// An engine with known timing that is cheap enough to be stronger than the client under test: all
// streams that are due within a tick of 1 ms are written one after the other. It remembers when it
// really wrote, so that the client's times can be held against the truth and not against the plan.
class LoadServer {
 public:
  struct Truth {
    int64_t arrived_ns = 0;  // at this host: what waits to be read has begun to wait for its token
    int64_t read_ns = 0;     // when the server came to it
    int64_t first_ns = 0, last_ns = 0;
  };

  LoadServer(int64_t first_ns, int64_t gap_ns);
  ~LoadServer();
  LoadServer(const LoadServer&) = delete;
  LoadServer& operator=(const LoadServer&) = delete;

  std::string url() const;
  // By X-Request-Id; complete when all answers are over.
  std::unordered_map<std::string, Truth> TakeTruth();
  // Of a core, from the first request to the last answer.
  double cpu_share() const { return cpu_share_; }

 private:
  struct Stream {
    std::shared_ptr<HttpExchange> exchange;
    std::string id;
    int64_t next_ns = 0;
    int64_t tokens = 0, written = 0;
  };
  void Take(const std::shared_ptr<HttpExchange>& exchange);
  void Tick(int64_t at_ns);
  void WriteDue(size_t from, int64_t at_ns, int64_t now);

  const int64_t first_ns_, gap_ns_;
  std::vector<Stream> streams_;  // the server's thread only
  std::mutex mutex_;
  std::unordered_map<std::string, Truth> truth_;
  int64_t cpu_began_ns_ = 0, began_ns_ = 0;
  double cpu_share_ = 0;
  uint16_t port_ = 0;
  std::unique_ptr<HttpServer> server_;  // the last: its thread uses what is above
};

}  // namespace tacho
