#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "simulate/api_error.h"
#include "simulate/hosted/hosts.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

constexpr int64_t kLongestStopNs = 30'000'000'000;

}  // namespace

void TensorRtLlmServer::Handle(const Exchange& exchange) {
  const ServerRequest& request = exchange->request();
  const bool post = request.method == "POST";
  const std::string& path = request.path;
  if (path == "/start_profile" && post) return Start(exchange);
  if (path == "/stop_profile" && post) return Stop(exchange);
  if (path == "/v1/completions" || path == "/v1/chat/completions") return inner_->Handle(exchange);
  if (path == "/health") return exchange->Respond(200, "", "");
  if (path == "/version") return exchange->Respond(200, R"({"version":"1.3.0"})", kJsonAnswer);
  if (path == "/v1/models")
    return exchange->Respond(200, ModelListOf(options_, "tensorrt_llm"), kJsonAnswer);
  // Here /metrics holds statistics of iterations; Prometheus's text has another route.
  if (path == "/metrics") return exchange->Respond(200, "[]", kJsonAnswer);
  if (path == "/openapi.json")
    return exchange->Respond(200,
                             InterfaceOf({{"/health", "get"},
                                          {"/version", "get"},
                                          {"/v1/models", "get"},
                                          {"/metrics", "get"},
                                          {"/v1/completions", "post"},
                                          {"/v1/chat/completions", "post"},
                                          {"/start_profile", "post"},
                                          {"/stop_profile", "post"}}),
                             kJsonAnswer);
  AnswerNotFound(exchange);
}

// Translates a profile request from TensorRT-LLM's form to SGLang's.
void TensorRtLlmServer::Start(const Exchange& exchange) {
  if (profiling_.busy())
    return exchange->Respond(
        409, R"({"success":false,"message":"A profile window is already active or pending."})",
        kJsonAnswer);
  const Json asked = ParseJson(exchange->request().body);
  const auto has = [&](const char* key) {
    return asked.is_object() && asked.contains(key) && !asked[key].is_null();
  };
  for (const char* field : {"start_step", "num_steps"})
    if (has(field) && !asked[field].is_number_integer())
      return exchange->Respond(
          422,
          fmt::format(
              R"({{"detail":[{{"loc":["body","{}"],"msg":"Input should be a valid integer"}}]}})",
              field),
          kJsonAnswer);
  const auto unix_ns = loop_.UnixNs(loop_.NowNs());
  Json body = {{"with_stack", false},
               {"profile_id", fmt::format("{}-{:08x}", unix_ns / 1'000'000'000,
                                          HashNumber(static_cast<uint64_t>(unix_ns)) & 0xffffffff)},
               // In the request, start_step is relative: how many iterations go by first.
               {"start_step", profiling_.forwards() + 1 +
                                  (has("start_step") ? asked["start_step"].get<int64_t>() : 0)}};
  for (const char* field : {"output_dir", "num_steps", "activities"})
    if (has(field)) body[field] = asked[field];
  Ask("POST", "/start_profile", body.dump(), [exchange](int status, const std::string& text) {
    if (status == 200)
      return exchange->Respond(200, R"({"message":"Profiling started"})", kJsonAnswer);
    exchange->Respond(
        500, "{\"success\":false,\"message\":" + QuoteJson(WhyRefused(true, status, text)) + "}",
        kJsonAnswer);
  });
}

// Answers once the trace is written, or after kLongestStopNs. Cancels a recording that has not
// begun.
void TensorRtLlmServer::Stop(const Exchange& exchange) {
  if (profiling_.pending()) {
    profiling_.Cancel();
    return exchange->Respond(200, R"({"message":"Profiling stopped"})", kJsonAnswer);
  }
  const auto answered = std::make_shared<bool>(false);
  const auto answer = [exchange, answered] {
    if (std::exchange(*answered, true)) return;
    exchange->Respond(200, R"({"message":"Profiling stopped"})", kJsonAnswer);
  };
  Ask("POST", "/stop_profile", "", [answer](int, const std::string&) { answer(); });
  loop_.At(loop_.NowNs() + kLongestStopNs, answer);
}

}  // namespace tacho::simulate
