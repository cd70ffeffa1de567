#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "simulate/api_error.h"
#include "simulate/hosted/hosts.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

// Passes an exchange on with a path that lacks the front end's prefix.
class WithoutPrefix : public HttpExchange {
 public:
  explicit WithoutPrefix(std::shared_ptr<HttpExchange> to)
      : to_(std::move(to)), request_(to_->request()) {
    request_.path.erase(0, std::string_view(kFromFrontEnd).size());
  }
  const ServerRequest& request() const override { return request_; }
  void Respond(int status, std::string body, std::string type,
               std::vector<HttpHeader> headers) override {
    to_->Respond(status, std::move(body), std::move(type), std::move(headers));
  }
  void Begin(int status, std::string type, std::vector<HttpHeader> headers) override {
    to_->Begin(status, std::move(type), std::move(headers));
  }
  void Write(std::string bytes) override { to_->Write(std::move(bytes)); }
  void End() override { to_->End(); }
  void Abort() override { to_->Abort(); }
  bool connected() const override { return to_->connected(); }
  size_t backlog() const override { return to_->backlog(); }

 private:
  std::shared_ptr<HttpExchange> to_;
  ServerRequest request_;
};

std::string Status(const char* status, const std::string& message) {
  return fmt::format(R"({{"status":"{}","message":{}}})", status, QuoteJson(message));
}

}  // namespace

void DynamoServer::Handle(const Exchange& exchange) {
  const std::string& path = exchange->request().path;
  if (path.starts_with(kFromFrontEnd))
    return inner_->Handle(std::make_shared<WithoutPrefix>(exchange));
  // As in Dynamo's system status server, any method will do: even a GET starts a profile.
  if (path == "/engine/control/start_profile") return Profile(exchange, true);
  if (path == "/engine/control/stop_profile") return Profile(exchange, false);
  if (path.starts_with("/engine/"))
    return exchange->Respond(
        404, R"({"error":"Route not found","message":"Route )" + path + R"( is not registered"})",
        kJsonAnswer);
  if (path == "/health" || path == "/live")
    return exchange->Respond(
        200, R"({"status":"ready","uptime":{"secs":60,"nanos":0},"endpoints":{}})", kJsonAnswer);
  if (path == "/metrics") return Metrics(exchange);
  exchange->Respond(404, "Route not found", "text/plain; charset=utf-8");
}

// Dynamo's vLLM worker reads only the request's field profile_prefix, and answers an error with
// status 200 and the reason in the body. Its SGLang worker passes all fields on, and an exception
// in SGLang becomes a 500.
void DynamoServer::Profile(const Exchange& exchange, bool start) {
  const bool vllm = options_.kind == SimulatedEngine::kVllm;
  const Json asked = ParseJson(exchange->request().body);
  Json body = Json::object();
  if (start && vllm && asked.is_object() && asked.contains("profile_prefix"))
    body["profile_prefix"] = asked["profile_prefix"];
  if (start && !vllm && asked.is_object()) body = asked;
  const std::string done = start ? "Profiling started" : "Profiling stopped";
  Ask("POST", start ? "/start_profile" : "/stop_profile", start ? body.dump() : "",
      [exchange, vllm, done, start](int status, const std::string& text) {
        if (status == 0) return exchange->Abort();
        if (status == 200) return exchange->Respond(200, Status("ok", done), kJsonAnswer);
        const std::string why = WhyRefused(start, status, text);
        if (vllm) return exchange->Respond(200, Status("error", why), kJsonAnswer);
        exchange->Respond(500,
                          R"({"error":"Internal server error","message":)" + QuoteJson(why) + "}",
                          kJsonAnswer);
      });
}

// Answers with the metrics of the engine and those of Dynamo's runtime.
void DynamoServer::Metrics(const Exchange& exchange) {
  Ask("GET", "/metrics", "", [exchange](int status, const std::string& text) {
    exchange->Respond(200,
                      "# HELP dynamo_component_uptime_seconds Total uptime\n"
                      "# TYPE dynamo_component_uptime_seconds gauge\n"
                      "dynamo_component_uptime_seconds 60\n" +
                          (status == 200 ? text : std::string()),
                      "text/plain; version=0.0.4");
  });
}

}  // namespace tacho::simulate
