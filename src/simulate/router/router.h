#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "simulate/engine/loop.h"
#include "simulate/router/upstream.h"
#include "simulate/server_log.h"

namespace tacho::simulate {

// What all simulated routers share: the list of workers, and forwarding to them.
class Router {
 public:
  virtual ~Router() = default;
  virtual void Handle(const std::shared_ptr<HttpExchange>& exchange) = 0;
  // The text that is served on the Prometheus port.
  virtual std::string Metrics() const = 0;
  virtual void OnListening(const std::string& host, uint16_t port) = 0;
  void Add(Upstream upstream) {
    upstream.id = next_id_++;
    upstreams_.push_back(std::move(upstream));
  }
  const std::vector<Upstream>& upstreams() const { return upstreams_; }

 protected:
  Router(HttpClient& client, Loop& loop, ServerLog& log)
      : client_(client), loop_(loop), log_(log) {}
  // The next live worker in turn (round robin); nullptr if none lives.
  Upstream* Next();
  // Sends the request to worker `to`, and the worker's answer back. `options.ended`, which may be
  // empty, is called on the loop.
  void Pass(const std::shared_ptr<HttpExchange>& exchange, Upstream& to, ForwardOptions options);
  Upstream* Find(uint64_t id);
  int64_t Answering() const;
  // The x-request-id header for an answer: the client's own id or a new one.
  HttpHeader RequestId(const ServerRequest& request);

  HttpClient& client_;
  Loop& loop_;
  ServerLog& log_;
  std::vector<Upstream> upstreams_;
  uint64_t handled_ = 0;

 private:
  size_t turn_ = 0;
  uint64_t next_id_ = 1, next_request_ = 1;
};

// vllm-router 0.1.17 in its regular mode, round robin. Forwards every route that it does not know
// to one worker.
std::unique_ptr<Router> MakeVllmRouter(HttpClient& client, Loop& loop, ServerLog& log);
// sglang-router 0.3.2. Answers routes that it does not know with 404; parses requests and forwards
// only the fields that it understands; retries; blocks workers that fail.
std::unique_ptr<Router> MakeSglangRouter(HttpClient& client, Loop& loop, ServerLog& log);
// SMG 1.13, according to its documents. Starts its workers' profilers itself, by HTTP or gRPC.
enum class SmgTransport : uint8_t { kHttp, kGrpc, kZmq };  // how it reaches its workers
std::unique_ptr<Router> MakeSmgRouter(SmgTransport transport, HttpClient& client, Loop& loop,
                                      ServerLog& log);
// The front end of a Dynamo deployment. It has no route that lists its workers to tacho.
std::unique_ptr<Router> MakeDynamoFrontEnd(HttpClient& client, Loop& loop, ServerLog& log);

}  // namespace tacho::simulate
