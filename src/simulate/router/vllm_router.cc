#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "net/http.h"
#include "net/url.h"
#include "simulate/api_error.h"
#include "simulate/engine/metrics_text.h"
#include "simulate/router/router.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;
using Exchange = std::shared_ptr<HttpExchange>;

class VllmRouter : public Router {
 public:
  VllmRouter(HttpClient& client, Loop& loop, ServerLog& log) : Router(client, loop, log) {}

  void OnListening(const std::string& host, uint16_t port) override {
    std::string urls;
    for (const Upstream& upstream : upstreams_) {
      urls += (urls.empty() ? "" : ", ") + QuoteJson(upstream.Listed());
    }
    log_.Router("vllm_router_rs::server",
                fmt::format("src/server.rs:1025: Starting router on {}:{} | mode: Regular {{ "
                            "worker_urls: [{}] }} | policy: RoundRobin | max_payload: 512MB",
                            host, port, urls));
    log_.Router("vllm_router_rs::server",
                fmt::format("src/server.rs:1192: Router ready | workers: [{}]", urls));
    log_.Router("vllm_router_rs::server",
                fmt::format("src/server.rs:1236: Starting server on {}:{}", host, port));
  }

  void Handle(const Exchange& exchange) override {
    const ServerRequest& request = exchange->request();
    const bool get = request.method == "GET";
    const bool post = request.method == "POST";
    if (get && request.path == "/workers") return Say(exchange, 200, List(), kJsonType);
    if (get && request.path == "/list_workers") return Say(exchange, 200, Urls(), kJsonType);
    if (get && request.path == "/get_loads") return Say(exchange, 200, Loads(), kJsonType);
    if (get && request.path == "/liveness") return Say(exchange, 200, "OK", kTextType);
    if (get && request.path == "/health") return Health(exchange);
    if (get && request.path == "/readiness") return Readiness(exchange);
    if (post && request.path == "/add_worker") return AddWorker(exchange);
    if (post && request.path == "/remove_worker") return RemoveWorker(exchange);
    if (post && request.path == "/workers") return Register(exchange);
    if (request.path.starts_with("/workers/")) return OneWorker(exchange);
    const bool asks = get && (request.path == "/v1/models" || request.path == "/get_server_info" ||
                              request.path == "/get_model_info");
    const bool generates =
        post && (request.path == "/v1/completions" || request.path == "/v1/chat/completions");
    Proxy(exchange, asks || generates, generates);
  }

  std::string Metrics() const override {
    MetricsText text;
    text.Gauge("vllm_router_active_workers", "Number of active workers", "router=\"sim\"",
               static_cast<double>(Answering()));
    text.Counter("vllm_router_processed_requests", "Requests handled", "router=\"sim\"",
                 static_cast<double>(handled_));
    for (const Upstream& upstream : upstreams_) {
      const std::string label = fmt::format("worker=\"{}\"", upstream.Listed());
      text.Gauge("vllm_router_running_requests", "Requests running on a worker", label,
                 static_cast<double>(upstream.load));
    }
    return std::move(text).Finish();
  }

 private:
  static std::string Refusal(const std::string& message, const char* code) {
    return fmt::format(R"({{"error":{},"code":"{}"}})", QuoteJson(message), code);
  }
  static std::string Success(const std::string& message) {
    return fmt::format(R"({{"success":true,"message":{}}})", QuoteJson(message));
  }
  // Sends an answer that the router itself makes.
  void Say(const Exchange& exchange, int status, const std::string& body, const char* type) {
    exchange->Respond(status, body, type, {RequestId(exchange->request())});
  }

  std::string List() const {
    std::string rows;
    for (const Upstream& u : upstreams_) {
      const bool healthy = u.Answers();
      rows += fmt::format(
          R"({}{{"url":{},"model_id":"unknown","worker_type":"{}","is_healthy":{},"load":{},"connection_mode":"Http","priority":50,"cost":1.0}})",
          rows.empty() ? "" : ",", QuoteJson(u.Listed()), u.type, healthy, u.load);
    }
    return fmt::format(
        R"({{"workers":[{}],"total":{},"stats":{{"prefill_count":0,"decode_count":0,"regular_count":{}}}}})",
        rows, upstreams_.size(), upstreams_.size());
  }
  std::string Urls() const {
    std::string urls;
    for (const Upstream& u : upstreams_) urls += (urls.empty() ? "" : ",") + QuoteJson(u.Listed());
    return "{\"urls\":[" + urls + "]}";
  }
  std::string Loads() const {
    std::string rows;
    for (const Upstream& u : upstreams_) {
      rows += fmt::format(R"({}{{"worker":{},"load":-1}})", rows.empty() ? "" : ",",
                          QuoteJson(u.Listed()));
    }
    return "{\"workers\":[" + rows + "]}";
  }

  void Health(const Exchange& exchange) {
    if (Answering() == static_cast<int64_t>(upstreams_.size())) {
      return Say(exchange, 200, "All servers healthy", kTextType);
    }
    Say(exchange, 503, "Unhealthy servers", kTextType);
  }
  void Readiness(const Exchange& exchange) {
    if (Answering() == 0) {
      return Say(exchange, 503, R"({"status":"not_ready","reason":"no healthy workers available"})",
                 kJsonType);
    }
    Say(exchange, 200,
        fmt::format(R"({{"status":"ready","healthy_workers":{},"total_workers":{}}})", Answering(),
                    upstreams_.size()),
        kJsonType);
  }

  std::vector<Upstream>::iterator FindUrl(const std::string& url) {
    return std::ranges::find_if(upstreams_, [&](const Upstream& u) { return u.Listed() == url; });
  }
  void AddUrl(const std::string& url, const std::string& type) {
    Upstream upstream;
    upstream.url = url;
    upstream.type = type;
    Add(std::move(upstream));
  }
  static std::string UrlOf(const ServerRequest& request) {
    const size_t at = request.query.find("url=");
    if (at == std::string::npos) return "";
    const size_t begin = at + 4;
    return PercentDecode(request.query.substr(begin, request.query.find('&', begin) - begin));
  }
  void AddWorker(const Exchange& exchange) {
    const std::string url = UrlOf(exchange->request());
    if (url.empty()) {
      return Say(exchange, 400, "Worker URL required. Provide 'url' query parameter", kTextType);
    }
    if (FindUrl(url) != upstreams_.end()) {
      return Say(exchange, 400, fmt::format("Worker {} already exists", url), kTextType);
    }
    AddUrl(url, "regular");
    Say(exchange, 200, "Successfully added worker: " + url, kTextType);
  }
  void RemoveWorker(const Exchange& exchange) {
    const std::string url = UrlOf(exchange->request());
    const auto found = FindUrl(url);
    if (found != upstreams_.end()) upstreams_.erase(found);
    Say(exchange, 200, "Successfully removed worker: " + url, kTextType);
  }
  void Register(const Exchange& exchange) {
    const Json body = ParseJson(exchange->request().body);
    if (!body.is_object() || !body.contains("url") || !body["url"].is_string()) {
      return Say(exchange, 400, R"({"error":"missing field `url`","code":"BAD_REQUEST"})",
                 kJsonType);
    }
    const std::string url = body["url"].get<std::string>();
    if (FindUrl(url) != upstreams_.end()) {
      return Say(exchange, 400, Refusal("Worker " + url + " already exists", "ADD_WORKER_FAILED"),
                 kJsonType);
    }
    const auto type = body.find("worker_type");
    AddUrl(url, type != body.end() && type->is_string() ? type->get<std::string>() : "regular");
    Say(exchange, 200, Success("Worker " + url + " added successfully"), kJsonType);
  }
  // Answers /workers/{percent-encoded url}. The server has already decoded the path.
  void OneWorker(const Exchange& exchange) {
    const std::string url = exchange->request().path.substr(std::string("/workers/").size());
    const auto found = FindUrl(url);
    if (found == upstreams_.end()) {
      return Say(exchange, 404, Refusal("Worker " + url + " not found", "WORKER_NOT_FOUND"),
                 kJsonType);
    }
    if (exchange->request().method == "DELETE") {
      upstreams_.erase(found);
      return Say(exchange, 200, Success("Worker " + url + " removed"), kJsonType);
    }
    Say(exchange, 200,
        fmt::format(R"({{"url":{},"model_id":"unknown","is_healthy":true}})", QuoteJson(url)),
        kJsonType);
  }

  // Forwards a request. `knows`: the router has this route itself and reads the request.
  // `generates`: the request asks for a completion.
  void Proxy(const Exchange& exchange, bool knows, bool generates) {
    ForwardOptions options;
    options.request = exchange->request();
    if (!options.request.body.empty()) {
      auto json = ParseOrderedJson(options.request.body);
      if (json.is_discarded()) {
        return Say(exchange, 400,
                   "Failed to parse the request body as JSON: " + SerdeError(options.request.body),
                   kTextType);
      }
      // Of stream_options the router knows only include_usage.
      if (generates && json.contains("stream_options") && json["stream_options"].is_object()) {
        json["stream_options"].erase("continuous_usage_stats");
        options.request.body = json.dump();
      }
    }
    Upstream* upstream = Next();
    if (upstream == nullptr) return Say(exchange, 503, "No available workers", kTextType);
    if (upstream->rank) {
      options.request.headers.push_back({"X-data-parallel-rank", std::to_string(*upstream->rank)});
    }
    if (knows) {
      options.add_headers.push_back(RequestId(options.request));
      options.plain_event_stream = true;
    }
    Pass(exchange, *upstream, std::move(options));
  }
};

}  // namespace

std::unique_ptr<Router> MakeVllmRouter(HttpClient& client, Loop& loop, ServerLog& log) {
  return std::make_unique<VllmRouter>(client, loop, log);
}

}  // namespace tacho::simulate
