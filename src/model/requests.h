#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/clocks.h"

namespace tacho {

// How far the Unix times in a Kineto trace may be from the clock of the trace's host.
inline constexpr DurationNs kTraceClockError{1'000'000};

// One request of a load, as its client saw it. Times are Unix times on the client's clock. What did
// not happen or is unknown is absent.
struct Request {
  static constexpr uint32_t kNoWorker = 0xffffffff;

  std::string id;         // sent as X-Request-Id
  std::string server_id;  // the engine's own id of the request; "" if not reported
  std::string scenario;
  // Index into RequestTable::workers. kNoWorker: the request went to a router, so any worker may
  // have served it.
  uint32_t worker = kNoWorker;
  bool whole = false;      // the answer was complete and as expected
  bool cancelled = false;  // by its client when the load ended
  bool at_limit = false;   // the answer reached the maximum number of tokens ("length")
  // `due`: when the limit on requests in flight admitted the request. `handed`: when the HTTP
  // client got it. `sent`: when the kernel took it.
  std::optional<TimeNs> due, handed, sent, first_token, last_token, ended;
  std::optional<int64_t> prompt_tokens, cached_tokens, output_tokens;
  // Its chunks that have tokens are [first_chunk, end_chunk) in RequestTable::chunks.
  size_t first_chunk = 0, end_chunk = 0;
  bool counted = true;  // true: the server told how many tokens each chunk has; false: estimates
};

// All requests of one load, in the order of the load's plan, and the workers that were recorded.
//
// Clocks: {kClient} is the clock of the requests, {kHost, i} the clock of the host of workers[i].
// `clocks` has no relation for a host whose clock is unknown. Memory: about 250 bytes a request and
// 16 a chunk.
struct RequestTable {
  struct Worker {
    std::string name;              // "w0", also the name of its folder of traces
    std::string url;               // the URL that its requests were sent to
    bool several_engines = false;  // data-parallel: which of its engines got a request is unknown
    int64_t engines = 1;           // number of its engines
  };
  struct Chunk {
    TimeNs at;
    uint32_t tokens = 0;
  };

  std::vector<Worker> workers;
  // Number of servers in the deployment; greater than workers.size() if some were not recorded.
  size_t engines = 0;
  std::vector<Request> rows;
  std::vector<Chunk> chunks;  // sorted by request, then by time
  ClockMap clocks;

  // The index of the worker with this URL; kNoWorker if there is none.
  [[nodiscard]] uint32_t WorkerAt(const std::string& url) const {
    for (uint32_t i = 0; i < workers.size(); ++i)
      if (workers[i].url == url) return i;
    return Request::kNoWorker;
  }
};

}  // namespace tacho
