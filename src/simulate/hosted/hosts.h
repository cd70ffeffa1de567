#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "simulate/hosted/hosted_server.h"
#include "simulate/sglang/server.h"

// The server classes behind MakeHostedServer.
namespace tacho::simulate {

// A server around the server of an engine, its inner server.
class HostedServer : public Worker {
 public:
  HostedServer(const WorkerOptions& options, std::unique_ptr<Worker> inner, Loop& loop,
               ServerLog& log);
  void OnListening(uint16_t port) override { inner_->OnListening(port_ = port); }
  void TraceWindow(const TraceWindowOrder& order) override { inner_->TraceWindow(order); }

 protected:
  using Exchange = std::shared_ptr<HttpExchange>;
  using Answered = std::function<void(int status, const std::string& body)>;
  // Sends a request to the inner server.
  void Ask(const char* method, const std::string& path, const std::string& body,
           const Answered& answered);
  void Hold(std::unique_ptr<Worker> inner);

  std::unique_ptr<Worker> inner_;
  uint16_t port_ = 0;
};

class TensorRtLlmServer : public HostedServer {
 public:
  TensorRtLlmServer(const WorkerOptions& options, std::unique_ptr<SglangServer> inner, Loop& loop,
                    ServerLog& log)
      : HostedServer(options, nullptr, loop, log), profiling_(inner->profiling()) {
    Hold(std::move(inner));
  }
  void Handle(const Exchange& exchange) override;

 private:
  void Start(const Exchange& exchange);
  void Stop(const Exchange& exchange);
  SglangProfiling& profiling_;
};

class TokenSpeedServer : public HostedServer {
 public:
  using HostedServer::HostedServer;
  void Handle(const Exchange& exchange) override;

 private:
  void Profile(const Exchange& exchange, bool start);
};

class DynamoServer : public HostedServer {
 public:
  using HostedServer::HostedServer;
  void Handle(const Exchange& exchange) override;

 private:
  void Profile(const Exchange& exchange, bool start);
  void Metrics(const Exchange& exchange);
};

// These are shared by several hosts.
inline constexpr char kJsonAnswer[] = "application/json";
void AnswerNotFound(const std::shared_ptr<HttpExchange>& exchange);  // as FastAPI does
// {"openapi":...,"paths":{...}} with the given routes and methods ("get", "post").
std::string InterfaceOf(const std::vector<std::pair<std::string, std::string>>& routes);
// A list with one model: {"object":"list","data":[...]}.
std::string ModelListOf(const WorkerOptions& options, const std::string& owner);

}  // namespace tacho::simulate
