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

// What a router knows about one of its workers.
struct Upstream {
  std::string url;          // as it was registered, without @rank
  std::optional<int> rank;  // data-parallel rank behind the URL, if the entry stands for one
  Worker* local = nullptr;  // the worker if it is in this process; nullptr: use HTTP
  bool healthy = true;
  int64_t load = 0;  // requests in flight
  uint64_t id = 0;
  std::string type = "regular";
  SimulatedEngine kind = SimulatedEngine::kSglang;
  std::string model, model_path;
  int tensor_parallel = 1, data_parallel = 1;
  // The state of the router's circuit breaker for this worker.
  int64_t failures = 0;  // failed answers in a row
  int64_t blocked_until_ns = 0;

  std::string Listed() const { return rank ? url + "@" + std::to_string(*rank) : url; }
  bool Answers() const { return healthy && (local == nullptr || local->alive()); }
};

struct ForwardOptions {
  ServerRequest request;                // the request as the worker gets it
  std::vector<HttpHeader> add_headers;  // added to the worker's answer
  bool plain_event_stream = false;      // sends "text/event-stream" without its charset
  // Called with the status of a whole answer (not a stream) before it is forwarded; 0 if the worker
  // could not be reached. If it returns true, it has taken over the exchange.
  std::function<bool(int status)> instead;
  // Called once, when the exchange is over, with the status.
  std::function<void(int status)> ended;
};

// Sends the request to `upstream` and passes its answer to `exchange` as it comes, piece by piece.
// The callbacks may run on the client's thread.
void Forward(const std::shared_ptr<HttpExchange>& exchange, const Upstream& upstream,
             HttpClient& client, ForwardOptions options);

// Sends a request that the router itself makes. `done` may run on the client's thread.
void Ask(const Upstream& upstream, ServerRequest request, HttpClient& client,
         std::function<void(int status, std::string body)> done);
// The same for a request whose status alone matters, such as a health check.
void AskQuietly(const Upstream& upstream, const std::string& path, HttpClient& client,
                std::function<void(int status, std::string body)> done);

}  // namespace tacho::simulate
