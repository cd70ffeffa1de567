#include "simulate/hosted/hosted_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "simulate/hosted/hosts.h"
#include "simulate/quiet_exchange.h"
#include "simulate/sglang/server.h"
#include "simulate/vllm/server.h"

namespace tacho::simulate {

HostedServer::HostedServer(const WorkerOptions& options, std::unique_ptr<Worker> inner, Loop& loop,
                           ServerLog& log)
    : Worker(options, loop, log) {
  if (inner) Hold(std::move(inner));
}

// Makes `inner` the inner server. When it dies, this server dies too.
void HostedServer::Hold(std::unique_ptr<Worker> inner) {
  inner_ = std::move(inner);
  inner_->set_on_death([this] { Die(); });
}

void HostedServer::Ask(const char* method, const std::string& path, const std::string& body,
                       const Answered& answered) {
  ServerRequest request;
  request.method = method;
  request.path = path;
  request.body = body;
  inner_->Handle(std::make_shared<QuietExchange>(
      std::move(request),
      [answered](int status, const std::string& text) { answered(status, text); }));
}

void AnswerNotFound(const std::shared_ptr<HttpExchange>& exchange) {
  exchange->Respond(404, R"({"detail":"Not Found"})", kJsonAnswer);
}

std::string InterfaceOf(const std::vector<std::pair<std::string, std::string>>& routes) {
  nlohmann::json paths = nlohmann::json::object();
  for (const auto& [path, method] : routes) paths[path][method] = {{"summary", path}};
  return nlohmann::json{{"openapi", "3.1.0"},
                        {"info", {{"title", "FastAPI"}, {"version", "0.1.0"}}},
                        {"paths", paths}}
      .dump();
}

std::string ModelListOf(const WorkerOptions& options, const std::string& owner) {
  return fmt::format(
      R"({{"object":"list","data":[{{"id":{},"object":"model","created":1764000000,"owned_by":{}}}]}})",
      QuoteJson(options.served_model), QuoteJson(owner));
}

Result<std::unique_ptr<Worker>> MakeHostedServer(const WorkerOptions& options, Loop& loop,
                                                 ServerLog& log) {
  if (options.kind == SimulatedEngine::kVllm) {
    TACHO_ASSIGN_OR_RETURN(auto vllm, VllmServer::Create(options, loop, log));
    return std::make_unique<DynamoServer>(options, std::move(vllm), loop, log);
  }
  TACHO_ASSIGN_OR_RETURN(auto sglang, SglangServer::Create(options, loop, log));
  if (options.host == HostKind::kTensorRtLlm)
    return std::make_unique<TensorRtLlmServer>(options, std::move(sglang), loop, log);
  if (options.host == HostKind::kTokenSpeed)
    return std::make_unique<TokenSpeedServer>(options, std::move(sglang), loop, log);
  return std::make_unique<DynamoServer>(options, std::move(sglang), loop, log);
}

}  // namespace tacho::simulate
