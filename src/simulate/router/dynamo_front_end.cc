#include <fmt/format.h>

#include "simulate/hosted/hosted_server.h"
#include "simulate/hosted/hosts.h"
#include "simulate/router/router.h"

namespace tacho::simulate {
namespace {

using Exchange = std::shared_ptr<HttpExchange>;

// The front end takes the requests for the models; its workers have no HTTP route for them.
class DynamoFrontEnd : public Router {
 public:
  DynamoFrontEnd(HttpClient& client, Loop& loop, ServerLog& log) : Router(client, loop, log) {}

  void OnListening(const std::string& host, uint16_t port) override {
    log_.Router("dynamo_llm::http::service::service_v2",
                fmt::format("Starting HTTP service on: {}:{}", host, port));
  }

  void Handle(const Exchange& exchange) override {
    const ServerRequest& request = exchange->request();
    if (request.path == "/v1/models" && !upstreams_.empty()) {
      WorkerOptions named;
      named.served_model = upstreams_.front().model;
      return exchange->Respond(200, ModelListOf(named, "nvidia"), kJsonAnswer);
    }
    if (request.path == "/health" || request.path == "/live")
      return exchange->Respond(200, R"({"status":"healthy"})", kJsonAnswer);
    Upstream* const next = Next();
    if (!request.path.starts_with("/v1/") || next == nullptr)
      return exchange->Respond(next == nullptr ? 503 : 404, "", "text/plain");
    ForwardOptions options;
    options.request = request;
    options.request.path = kFromFrontEnd + request.path;
    Pass(exchange, *next, std::move(options));
  }

  std::string Metrics() const override {
    return fmt::format("dynamo_frontend_requests_total {}\n", handled_);
  }
};

}  // namespace

std::unique_ptr<Router> MakeDynamoFrontEnd(HttpClient& client, Loop& loop, ServerLog& log) {
  return std::make_unique<DynamoFrontEnd>(client, loop, log);
}

}  // namespace tacho::simulate
