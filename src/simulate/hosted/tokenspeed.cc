#include <fmt/format.h>

#include "base/json_text.h"
#include "simulate/api_error.h"
#include "simulate/hosted/hosts.h"

namespace tacho::simulate {

void TokenSpeedServer::Handle(const Exchange& exchange) {
  const std::string& path = exchange->request().path;
  if (path == "/start_profile" || path == "/stop_profile") {
    // Like TokenSpeed's SMG, accepts only a POST.
    if (exchange->request().method != "POST") return exchange->Respond(405, "", "");
    return Profile(exchange, path == "/start_profile");
  }
  if (path == "/v1/completions" || path == "/v1/chat/completions" || path == "/generate")
    return inner_->Handle(exchange);
  if (path == "/health") return exchange->Respond(200, "OK", "text/plain");
  if (path == "/health_check") return exchange->Respond(200, R"({"healthy":true})", kJsonAnswer);
  if (path == "/v1/models")
    return exchange->Respond(200, ModelListOf(options_, "self_hosted"), kJsonAnswer);
  if (path == "/openapi.json")
    return exchange->Respond(200,
                             InterfaceOf({{"/health", "get"},
                                          {"/health_check", "get"},
                                          {"/get_server_info", "get"},
                                          {"/get_model_info", "get"},
                                          {"/abort", "post"},
                                          {"/generate", "post"},
                                          {"/v1/models", "get"},
                                          {"/v1/completions", "post"},
                                          {"/v1/chat/completions", "post"},
                                          {"/flush_cache", "post"},
                                          {"/start_profile", "post"},
                                          {"/stop_profile", "post"}}),
                             kJsonAnswer);
  AnswerNotFound(exchange);
}

// Reports the outcome as SMG does: by worker, with any status.
void TokenSpeedServer::Profile(const Exchange& exchange, bool start) {
  const std::string worker = fmt::format("grpc://127.0.0.1:{}", port_ - 1);
  Ask("POST", start ? "/start_profile" : "/stop_profile", start ? exchange->request().body : "",
      [exchange, worker, start](int status, const std::string& text) {
        if (status == 0) return exchange->Abort();
        const std::string name = QuoteJson(worker);
        if (status == 200)
          return exchange->Respond(
              200,
              fmt::format(
                  R"({{"successful":[{}],"failed":[],"total_workers":1,"message":"1 of 1 workers"}})",
                  name),
              kJsonAnswer);
        exchange->Respond(
            206,
            fmt::format(
                R"({{"successful":[],"failed":[[{},{}]],"total_workers":1,"message":"0 of 1 workers"}})",
                name, QuoteJson(WhyRefused(start, status, text))),
            kJsonAnswer);
      });
}

}  // namespace tacho::simulate
