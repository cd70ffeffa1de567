#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "net/url.h"
#include "simulate/metrics_text.h"
#include "simulate/router.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;
using Exchange = std::shared_ptr<HttpExchange>;

constexpr const char* kJson = "application/json";
constexpr const char* kText = "text/plain; charset=utf-8";

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
    if (get && request.path == "/workers") return exchange->Respond(200, List(), kJson);
    if (get && request.path == "/list_workers") return exchange->Respond(200, Urls(), kJson);
    if (get && request.path == "/get_loads") return exchange->Respond(200, Loads(), kJson);
    if (get && request.path == "/liveness") return exchange->Respond(200, "OK", kText);
    if (get && request.path == "/health") return Health(exchange);
    if (get && request.path == "/readiness") return Readiness(exchange);
    if (post && request.path == "/add_worker") return AddWorker(exchange);
    if (post && request.path == "/remove_worker") return RemoveWorker(exchange);
    if (post && request.path == "/workers") return Register(exchange);
    if (request.path.starts_with("/workers/")) return OneWorker(exchange);
    Proxy(exchange);
  }

  std::string Metrics() const override {
    MetricsText text;
    text.Gauge("vllm_router_active_workers", "Number of active workers", "router=\"sim\"",
               static_cast<double>(Healthy()));
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
  int64_t Healthy() const {
    return std::ranges::count_if(upstreams_, [](const Upstream& u) {
      return u.healthy && (u.local == nullptr || u.local->alive());
    });
  }

  std::string List() const {
    std::string rows;
    for (const Upstream& u : upstreams_) {
      const bool healthy = u.healthy && (u.local == nullptr || u.local->alive());
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
    if (Healthy() == static_cast<int64_t>(upstreams_.size())) {
      return exchange->Respond(200, "All servers healthy", kText);
    }
    exchange->Respond(503, "Unhealthy servers", kText);
  }
  void Readiness(const Exchange& exchange) {
    if (Healthy() == 0) {
      return exchange->Respond(
          503, R"({"status":"not_ready","reason":"no healthy workers available"})", kJson);
    }
    exchange->Respond(200,
                      fmt::format(R"({{"status":"ready","healthy_workers":{},"total_workers":{}}})",
                                  Healthy(), upstreams_.size()),
                      kJson);
  }

  std::vector<Upstream>::iterator Find(const std::string& url) {
    return std::ranges::find_if(upstreams_, [&](const Upstream& u) { return u.Listed() == url; });
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
      return exchange->Respond(400, "Worker URL required. Provide 'url' query parameter", kText);
    }
    if (Find(url) != upstreams_.end()) {
      return exchange->Respond(400, fmt::format("Worker {} already exists", url), kText);
    }
    Add({url, {}, nullptr, true, 0, 0, "regular"});
    exchange->Respond(200, "Successfully added worker: " + url, kText);
  }
  void RemoveWorker(const Exchange& exchange) {
    const std::string url = UrlOf(exchange->request());
    const auto found = Find(url);
    if (found != upstreams_.end()) upstreams_.erase(found);
    exchange->Respond(200, "Successfully removed worker", kText);
  }
  void Register(const Exchange& exchange) {
    const Json body = Json::parse(exchange->request().body, nullptr, false);
    if (!body.is_object() || !body.contains("url") || !body["url"].is_string()) {
      return exchange->Respond(400, R"({"error":"missing field `url`","code":"BAD_REQUEST"})",
                               kJson);
    }
    const std::string url = body["url"].get<std::string>();
    if (Find(url) != upstreams_.end()) {
      return exchange->Respond(
          400,
          fmt::format(R"({{"error":"Worker {} already exists","code":"ADD_WORKER_FAILED"}})", url),
          kJson);
    }
    Add({url, {}, nullptr, true, 0, 0, body.value("worker_type", "regular")});
    exchange->Respond(
        200, fmt::format(R"({{"success":true,"message":"Worker {} added successfully"}})", url),
        kJson);
  }
  // /workers/{percent-encoded url}; the server has decoded it.
  void OneWorker(const Exchange& exchange) {
    const std::string url = exchange->request().path.substr(std::string("/workers/").size());
    const auto found = Find(url);
    if (found == upstreams_.end()) {
      return exchange->Respond(
          404, fmt::format(R"({{"error":"Worker {} not found","code":"WORKER_NOT_FOUND"}})", url),
          kJson);
    }
    if (exchange->request().method == "DELETE") {
      upstreams_.erase(found);
      return exchange->Respond(
          200, fmt::format(R"({{"success":true,"message":"Worker {} removed"}})", url), kJson);
    }
    exchange->Respond(
        200, fmt::format(R"({{"url":{},"model_id":"unknown","is_healthy":true}})", QuoteJson(url)),
        kJson);
  }

  void Proxy(const Exchange& exchange) {
    const ServerRequest& request = exchange->request();
    if (!request.body.empty() && !Json::accept(request.body)) {
      return exchange->Respond(400, "Invalid JSON in request body", kText);
    }
    Upstream* upstream = Next();
    if (upstream == nullptr) return exchange->Respond(503, "No available workers", kText);
    Pass(exchange, request, *upstream);
  }
};

}  // namespace

std::unique_ptr<Router> MakeVllmRouter(HttpClient& client, Loop& loop, ServerLog& log) {
  return std::make_unique<VllmRouter>(client, loop, log);
}

}  // namespace tacho::simulate
