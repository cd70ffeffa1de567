#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "base/time.h"
#include "net/http.h"
#include "simulate/engine/metrics_text.h"
#include "simulate/router/router.h"
#include "simulate/router/sglang_router_answers.h"
#include "simulate/router/sglang_router_request.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;
using Exchange = std::shared_ptr<HttpExchange>;

constexpr int kAttempts = 5;
constexpr int64_t kFirstPauseNs = 50'000'000;
constexpr int64_t kFailuresToBlock = 10;
constexpr int64_t kBlockedNs = 60 * kNsPerSecond;
constexpr int64_t kHealthPeriodNs = 60 * kNsPerSecond;

bool IsRetried(int status) {
  return status == 0 || status == 429 || status == 500 || status == 503;
}

class SglangRouter : public Router {
 public:
  SglangRouter(HttpClient& client, Loop& loop, ServerLog& log) : Router(client, loop, log) {}

  void OnListening(const std::string& host, uint16_t port) override {
    std::string urls;
    for (const Upstream& u : upstreams_) urls += (urls.empty() ? "" : ", ") + QuoteJson(u.Listed());
    log_.Router("smg::server",
                fmt::format("Starting router on {}:{} | mode: Regular {{ worker_urls: [{}] }} | "
                            "policy: CacheAware {{ cache_threshold: 0.3, balance_abs_threshold: "
                            "64, balance_rel_threshold: 1.5 }}",
                            host, port, urls));
    // The real router prints this line before it knows its workers.
    log_.Router("smg::server", "Router ready | workers: []");
    log_.Router("smg::server", fmt::format("Starting server on {}:{}", host, port));
    loop_.Post([this] { PollHealth(); });
  }

  void Handle(const Exchange& exchange) override {
    const ServerRequest& request = exchange->request();
    const bool get = request.method == "GET";
    const bool post = request.method == "POST";
    const std::string& path = request.path;
    if (path == "/workers" && get) return Say(exchange, 200, WorkersJson(upstreams_), kJsonType);
    if (path == "/workers" && post) return Register(exchange);
    if (path.starts_with("/workers/")) return OneWorker(exchange);
    if (get && (path == "/health" || path == "/liveness"))
      return Say(exchange, 200, "OK", kTextType);
    if (get && path == "/readiness") return Readiness(exchange);
    if (get && path == "/get_loads") return Say(exchange, 200, LoadsJson(upstreams_), kJsonType);
    if (get && path == "/get_server_info") return ServerInfo(exchange);
    if (get && path == "/v1/models") return Say(exchange, 200, ModelsJson(upstreams_), kTextType);
    if (get && path == "/get_model_info") return Send(exchange, request, kAttempts);
    if (post &&
        (path == "/generate" || path == "/v1/completions" || path == "/v1/chat/completions")) {
      return Generate(exchange);
    }
    exchange->Respond(404, "", "");
  }

  std::string Metrics() const override {
    MetricsText text;
    for (const Upstream& u : upstreams_) {
      const std::string label = fmt::format("worker=\"{}\"", u.Listed());
      text.Gauge("smg_worker_health", "Worker health (1 healthy)", label, u.Answers() ? 1 : 0);
    }
    for (const Upstream& u : upstreams_) {
      text.Gauge("smg_worker_requests_active", "Requests under way",
                 fmt::format("worker=\"{}\"", u.Listed()), static_cast<double>(u.load));
    }
    for (const Upstream& u : upstreams_) {
      text.Gauge("smg_worker_cb_state", "Circuit breaker (0 closed, 1 open)",
                 fmt::format("worker=\"{}\"", u.Listed()), IsBlocked(u) ? 1 : 0);
    }
    text.Counter("smg_router_requests", "Requests handled", "router_type=\"http\"",
                 static_cast<double>(handled_));
    return std::move(text).Finish();
  }

 private:
  void Say(const Exchange& exchange, int status, const std::string& body, const char* type,
           std::vector<HttpHeader> headers = {}) {
    headers.push_back(RequestId(exchange->request()));
    exchange->Respond(status, body, type, std::move(headers));
  }

  void Fail(const Exchange& exchange, int status, const char* type, const char* code,
            const char* message) {
    Say(exchange, status,
        fmt::format(R"({{"error":{{"type":"{}","code":"{}","message":"{}"}}}})", type, code,
                    message),
        kJsonType, {{"x-smg-error-code", code}});
  }

  Upstream* FindUuid(const std::string& uuid) {
    const auto found =
        std::ranges::find_if(upstreams_, [&](const Upstream& u) { return UuidOf(u) == uuid; });
    return found == upstreams_.end() ? nullptr : &*found;
  }

  void Readiness(const Exchange& exchange) {
    if (Answering() == 0) {
      return Say(exchange, 503, R"({"status":"not ready","reason":"insufficient healthy workers"})",
                 kJsonType);
    }
    Say(exchange, 200,
        fmt::format(R"({{"status":"ready","healthy_workers":{},"total_workers":{}}})", Answering(),
                    upstreams_.size()),
        kJsonType);
  }
  void ServerInfo(const Exchange& exchange) {
    Say(exchange, 200,
        fmt::format(R"({{"router_manager":true,"routers_count":1,"workers_count":{}}})",
                    upstreams_.size()),
        kTextType);
  }
  // Accepts the order at once. The worker appears in the list once it has answered.
  void Register(const Exchange& exchange) {
    const Json body = ParseJson(exchange->request().body);
    if (!body.is_object() || !body.contains("url") || !body["url"].is_string()) {
      return Say(exchange, 422,
                 "Failed to deserialize the JSON body into the target type: missing field `url`",
                 kTextType);
    }
    Upstream upstream;
    upstream.url = body["url"].get<std::string>();
    const auto known = std::ranges::find(upstreams_, upstream.url, &Upstream::url);
    upstream.id = known != upstreams_.end() ? known->id : HashNumber(upstreams_.size() + 1000);
    const std::string uuid = UuidOf(upstream);
    const Json answer = {{"status", "accepted"},
                         {"worker_id", uuid},
                         {"url", upstream.url},
                         {"location", "/workers/" + uuid},
                         {"message", "Worker addition queued for background processing"}};
    Say(exchange, 202, answer.dump(), kJsonType, {{"location", "/workers/" + uuid}});
    if (known != upstreams_.end()) {
      failed_jobs_[known->id] =
          "Workflow failed at step create_worker: Step failed: "
          "create_worker - Worker " +
          upstream.url + " already exists";
      return;
    }
    AskQuietly(upstream, "/model_info", client_, [this, upstream](int status, std::string text) {
      loop_.Post([this, upstream, status, text = std::move(text)] {
        const Json info = ParseJson(text);
        if (status != 200 || !info.is_object()) return;
        Upstream added = upstream;
        const auto say = [&](const char* key) {
          return info.contains(key) && info[key].is_string() ? info[key].get<std::string>() : "";
        };
        added.model = say("served_model_name");
        added.model_path = say("model_path");
        Add(std::move(added));
      });
    });
  }

  void OneWorker(const Exchange& exchange) {
    const ServerRequest& request = exchange->request();
    const std::string uuid = request.path.substr(std::string("/workers/").size());
    Upstream* upstream = FindUuid(uuid);
    if (upstream == nullptr) {
      return Say(exchange, 404,
                 fmt::format(R"({{"error":{},"code":"WORKER_NOT_FOUND"}})",
                             QuoteJson("Worker " + uuid + " not found")),
                 kJsonType);
    }
    if (request.method == "GET") {
      const auto job = failed_jobs_.find(upstream->id);
      const std::string failure = job == failed_jobs_.end() ? "" : job->second;
      const int64_t now_s = loop_.UnixNs(loop_.NowNs()) / kNsPerSecond;
      return Say(exchange, 200, WorkerJson(*upstream, failure, now_s), kJsonType);
    }
    const Json answer = {
        {"status", "accepted"},
        {"worker_id", uuid},
        {"message", request.method == "DELETE" ? "Worker removal queued for background processing"
                                               : "Worker update queued for background processing"}};
    Say(exchange, 202, answer.dump(), kJsonType);
    if (request.method == "DELETE") {
      loop_.Post([this, uuid] {
        std::erase_if(upstreams_, [&](const Upstream& u) { return UuidOf(u) == uuid; });
      });
    }
  }

  void Generate(const Exchange& exchange) {
    ServerRequest request = exchange->request();
    RoutedRequest routed = ReadRoutedRequest(request.path, request.body);
    if (routed.status != 0) return Say(exchange, routed.status, routed.text, kTextType);
    request.body = std::move(routed.text);
    std::vector<HttpHeader> kept;
    for (const char* name :
         {"Content-Type", "Authorization", "X-Request-Id", "X-Correlation-Id", "traceparent"}) {
      if (const auto value = FindHeader(request.headers, name); !value.empty()) {
        kept.push_back({name, std::string(value)});
      }
    }
    request.headers = std::move(kept);
    Send(exchange, request, kAttempts);
  }

  bool IsBlocked(const Upstream& upstream) const {
    return upstream.blocked_until_ns > loop_.NowNs();
  }

  // Cache-aware choice: the worker that got a prompt with this prefix before, else the least loaded
  // one.
  Upstream* Choose(const ServerRequest& request, uint64_t except) {
    const auto usable = [&](const Upstream& u) {
      return u.Answers() && !IsBlocked(u) && u.id != except;
    };
    Upstream* least = nullptr;
    for (Upstream& u : upstreams_) {
      if (usable(u) && (least == nullptr || u.load < least->load)) least = &u;
    }
    if (least == nullptr) return except == 0 ? nullptr : Choose(request, 0);
    constexpr size_t kBeginning = 160;
    const size_t key = std::hash<std::string>{}(request.body.substr(0, kBeginning));
    constexpr int64_t kImbalance = 64;
    if (const auto before = went_to_.find(key); before != went_to_.end()) {
      Upstream* same = Find(before->second);
      if (same != nullptr && usable(*same) && same->load < least->load + kImbalance) return same;
    }
    constexpr size_t kMostRemembered = 100'000;
    if (went_to_.size() > kMostRemembered) went_to_.clear();
    // If several are equally loaded, they take turns.
    Upstream* next = Next();
    if (next != nullptr && usable(*next) && next->load <= least->load) least = next;
    if (!request.body.empty()) went_to_[key] = least->id;
    return least;
  }

  void Send(const Exchange& exchange, const ServerRequest& request, int attempts,
            uint64_t except = 0) {
    Upstream* upstream = Choose(request, except);
    if (upstream == nullptr) {
      return Fail(exchange, 503, "Service Unavailable", "no_available_workers",
                  "No available workers: all circuits open or unhealthy");
    }
    const uint64_t id = upstream->id;
    const int number = kAttempts - attempts;
    ForwardOptions options;
    options.request = request;
    if (upstream->rank) {
      // The rank is part of the worker's name here, and goes to the engine in the body.
      auto json = ParseOrderedJson(options.request.body);
      if (json.is_object()) {
        json["data_parallel_rank"] = *upstream->rank;
        options.request.body = json.dump();
      }
    }
    options.add_headers.push_back(RequestId(request));
    options.plain_event_stream = true;
    options.instead = [this, exchange, request, attempts, id, number](int status) {
      if (!IsRetried(status)) return false;
      const bool last = attempts <= 1;
      if (last && status != 0) return false;
      loop_.Post([this, exchange, request, attempts, id, number, last] {
        if (last) {
          return Fail(exchange, 500, "Internal Server Error", "call_upstream_request_error",
                      "error sending request");
        }
        loop_.At(
            loop_.NowNs() + (kFirstPauseNs << number),
            [this, exchange, request, attempts, id] { Send(exchange, request, attempts - 1, id); });
      });
      return true;
    };
    options.ended = [this, id](int status) { Count(id, status); };
    Pass(exchange, *upstream, std::move(options));
  }

  // Counts answers for the circuit breaker. It opens after ten failed answers in a row, whatever
  // their cause.
  void Count(uint64_t id, int status) {
    Upstream* upstream = Find(id);
    if (upstream == nullptr) return;
    if (status >= 200 && status < 300) {
      upstream->failures = 0;
    } else if (++upstream->failures >= kFailuresToBlock) {
      upstream->failures = 0;
      upstream->blocked_until_ns = loop_.NowNs() + kBlockedNs;
    }
  }

  // Checks each worker's health. On SGLang each check is a forward pass.
  void PollHealth() {
    for (const Upstream& upstream : upstreams_) {
      if (upstream.rank.value_or(0) != 0) continue;
      AskQuietly(upstream, "/health", client_, [this, url = upstream.url](int status, auto) {
        loop_.Post([this, url, status] {
          for (Upstream& u : upstreams_) {
            if (u.url == url) u.healthy = status == 200;
          }
        });
      });
    }
    loop_.At(loop_.NowNs() + kHealthPeriodNs, [this] { PollHealth(); });
  }

  std::map<size_t, uint64_t> went_to_;
  std::map<uint64_t, std::string> failed_jobs_;
};

}  // namespace

std::unique_ptr<Router> MakeSglangRouter(HttpClient& client, Loop& loop, ServerLog& log) {
  return std::make_unique<SglangRouter>(client, loop, log);
}

}  // namespace tacho::simulate
