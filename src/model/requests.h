#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/clocks.h"

namespace tacho {

// How far the Unix times of a Kineto trace may differ from the clock of its host.
inline constexpr DurationNs kTraceClockError{1'000'000};

// One request of a load, as its client saw it. Times are Unix times by the client's clock; what did
// not happen, or is not known, is absent.
struct Request {
  static constexpr uint32_t kNoWorker = 0xffffffff;

  std::string id;         // sent as X-Request-Id
  std::string server_id;  // the engine's own name for it; "" if not reported
  std::string scenario;
  // Index into RequestTable::workers; kNoWorker: sent to a router, so any of them may have it.
  uint32_t worker = kNoWorker;
  bool whole = false;      // answered completely, as expected
  bool cancelled = false;  // by its client, at the end of the load
  bool at_limit = false;   // the answer has as many tokens as it may have ("length")
  // due: when the limit on requests in flight admitted the request. handed: when the HTTP client
  // got it. sent: when the kernel took it.
  std::optional<TimeNs> due, handed, sent, first_token, last_token, ended;
  std::optional<int64_t> prompt_tokens, cached_tokens, output_tokens;
  // Its chunks with tokens: [first_chunk, end_chunk) of RequestTable::chunks.
  size_t first_chunk = 0, end_chunk = 0;
  bool counted = true;  // the server said how many tokens are in each chunk; false: estimates
};

// All requests of one load, in the order of the plan, and the workers that were recorded.
//
// Clocks: {kClient} is the clock of the requests, {kHost, i} that of the host of workers[i]. If the
// clock of that host is not known, `clocks` has no relation for it. Memory: some 250 bytes a
// request and 16 a chunk.
struct RequestTable {
  struct Worker {
    std::string name;              // "w0", also its folder of traces
    std::string url;               // to which its requests were sent
    bool several_engines = false;  // data-parallel: which engine got a request is not known
    int64_t engines = 1;           // how many it has
  };
  struct Chunk {
    TimeNs at;
    uint32_t tokens = 0;
  };

  std::vector<Worker> workers;
  size_t engines = 0;  // servers of the deployment; above workers.size() if some were not recorded
  std::vector<Request> rows;
  std::vector<Chunk> chunks;  // by request, then time
  ClockMap clocks;

  // The worker with this URL; kNoWorker without one.
  [[nodiscard]] uint32_t WorkerAt(const std::string& url) const {
    for (uint32_t i = 0; i < workers.size(); ++i)
      if (workers[i].url == url) return i;
    return Request::kNoWorker;
  }
};

}  // namespace tacho
