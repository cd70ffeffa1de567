#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/http_client.h"
#include "net/http_server.h"
#include "simulate/worker.h"

namespace tacho::simulate {

// A worker as a router knows it.
struct Upstream {
  std::string url;          // as registered, without @rank
  std::optional<int> rank;  // of a data-parallel engine behind it
  Worker* local = nullptr;  // in this process; else it is reached over HTTP
  bool healthy = true;
  int64_t load = 0;  // requests in flight
  uint64_t id = 0;
  std::string type = "regular";
  SimulatedEngine kind = SimulatedEngine::kSglang;
  std::string model, model_path;
  int tensor_parallel = 1, data_parallel = 1;
  // The state of a circuit breaker.
  int64_t failures = 0;  // in a row
  int64_t blocked_until_ns = 0;

  std::string Listed() const { return rank ? url + "@" + std::to_string(*rank) : url; }
  bool Answers() const { return healthy && (local == nullptr || local->alive()); }
};

struct ForwardOptions {
  ServerRequest request;                // the request to the worker
  std::vector<HttpHeader> add_headers;  // to its answer
  bool plain_event_stream = false;      // "text/event-stream" without its charset
  // Sees a whole answer (not a stream) before it is forwarded; true: it takes over the exchange.
  // Status 0: the worker could not be reached.
  std::function<bool(int status)> instead;
  // Called once, with the status, when the exchange is over.
  std::function<void(int status)> ended;
};

// Answers `exchange` with the answer of `upstream`, piece by piece as it comes. The callbacks may
// run on the client's thread.
void Forward(const std::shared_ptr<HttpExchange>& exchange, const Upstream& upstream,
             HttpClient& client, ForwardOptions options);

// A request of a router itself; the callback may run on the client's thread.
void Ask(const Upstream& upstream, ServerRequest request, HttpClient& client,
         std::function<void(int status, std::string body)> done);
// A request where only the status matters: a health check.
void AskQuietly(const Upstream& upstream, const std::string& path, HttpClient& client,
                std::function<void(int status, std::string body)> done);

}  // namespace tacho::simulate
