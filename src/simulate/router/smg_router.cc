#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "simulate/api_error.h"
#include "simulate/router/router.h"
#include "simulate/router/sglang_router_answers.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;
using Exchange = std::shared_ptr<HttpExchange>;

constexpr char kJsonType[] = "application/json", kTextType[] = "text/plain; charset=utf-8";

class SmgRouter : public Router {
 public:
  SmgRouter(SmgTransport transport, HttpClient& client, Loop& loop, ServerLog& log)
      : Router(client, loop, log), transport_(transport) {}

  void OnListening(const std::string& host, uint16_t port) override {
    log_.Router("smg::server", fmt::format("Starting server on {}:{}", host, port));
  }

  void Handle(const Exchange& exchange) override {
    const ServerRequest& request = exchange->request();
    const bool get = request.method == "GET";
    const std::string& path = request.path;
    if (path == "/start_profile" || path == "/stop_profile") {
      if (request.method != "POST")
        return exchange->Respond(405, "", kTextType, {{"allow", "POST"}});
      return Profile(exchange);
    }
    if (get && path == "/workers") return exchange->Respond(200, List(), kJsonType);
    if (get && path == "/v1/models")
      return exchange->Respond(200, ModelsJson(upstreams_), kJsonType);
    if (get && (path == "/health" || path == "/liveness" || path == "/readiness"))
      return exchange->Respond(Answering() > 0 ? 200 : 503, "OK", kTextType);
    if (path == "/v1/completions" || path == "/v1/chat/completions" || path == "/generate")
      return Route(exchange);
    exchange->Respond(404, "", kTextType);
  }

  std::string Metrics() const override {
    return fmt::format("smg_worker_pool_size {}\n", upstreams_.size());
  }

 private:
  std::string UrlOf(const Upstream& upstream) const {
    const std::string place = upstream.url.substr(upstream.url.find("://") + 3);
    switch (transport_) {
      case SmgTransport::kGrpc:
        return "grpc://" + place;
      case SmgTransport::kZmq:
        return fmt::format("ipc:///tmp/smg-zmq/engine-{}", upstream.id);
      case SmgTransport::kHttp:
        break;
    }
    return upstream.url;
  }

  std::string List() const {
    static constexpr std::string_view kModes[] = {"http", "grpc", "zmq"};
    Json workers = Json::array();
    for (const Upstream& u : upstreams_)
      workers.push_back(
          {{"id", UuidOf(u)},
           {"model_id", u.model},
           {"url", UrlOf(u)},
           {"models", {{{"id", u.model}}}},
           {"worker_type", u.type},
           {"connection_mode", kModes[static_cast<size_t>(transport_)]},
           {"runtime_type", u.kind == SimulatedEngine::kVllm ? "vllm" : "sglang"},
           {"labels",
            {{"model_path", u.model_path}, {"tp_size", std::to_string(u.tensor_parallel)}}},
           {"priority", 50},
           {"cost", 1.0},
           {"max_connection_attempts", 20},
           {"is_healthy", u.Answers()},
           {"status", u.Answers() ? "ready" : "not_ready"},
           {"load", u.load},
           {"http2", false}});
    const size_t count = upstreams_.size();
    return Json{{"workers", workers},
                {"total", count},
                {"stats", {{"prefill_count", 0}, {"decode_count", 0}, {"regular_count", count}}}}
        .dump();
  }

  void Route(const Exchange& exchange) {
    Upstream* const next = Next();
    if (next == nullptr)
      return exchange->Respond(503, R"({"error":{"message":"No available workers"}})", kJsonType);
    ForwardOptions options;
    options.request = exchange->request();
    Pass(exchange, *next, std::move(options));
  }

  // The outcome of a profile request for each worker.
  struct Told {
    Json successful = Json::array(), failed = Json::array();
    size_t open = 0;
  };

  // Sends the request to all workers, or to the one that the body names. It uses HTTP where the
  // real SMG calls gRPC.
  void Profile(const Exchange& exchange) {
    const ServerRequest& request = exchange->request();
    Json body = ParseJson(request.body.empty() ? "{}" : request.body);
    if (!body.is_object()) return exchange->Respond(422, "invalid JSON", kTextType);
    if (body.contains("url") && !body["url"].is_string())
      return exchange->Respond(422, "url: invalid type, expected a string", kTextType);
    const std::string only = body.contains("url") ? body["url"].get<std::string>() : "";
    body.erase("url");
    const bool start = request.path == "/start_profile";
    std::vector<const Upstream*> asked;
    for (const Upstream& u : upstreams_)
      if (only.empty() || UrlOf(u) == only) asked.push_back(&u);
    const auto told = std::make_shared<Told>();
    told->open = asked.size();
    if (asked.empty()) return Tell(exchange, *told);
    for (const Upstream* u : asked) {
      const std::string url = UrlOf(*u);
      const auto note = [exchange, told, url](const std::string& failure) {
        if (failure.empty())
          told->successful.push_back(url);
        else
          told->failed.push_back({url, failure});
        if (--told->open == 0) Tell(exchange, *told);
      };
      if (transport_ == SmgTransport::kZmq) {
        note(request.path.substr(1) + " is not supported over ZMQ");
        continue;
      }
      ServerRequest inner;
      inner.method = "POST";
      inner.path = request.path;
      inner.body = start ? body.dump() : "";
      Ask(*u, std::move(inner), client_, [this, note, start](int status, const std::string& text) {
        const std::string why = status == 200 ? "" : WhyRefused(start, status, text);
        loop_.Post([note, why] { note(why); });
      });
    }
  }

  static void Tell(const Exchange& exchange, const Told& told) {
    const size_t good = told.successful.size(), all = good + told.failed.size();
    exchange->Respond(told.failed.empty() ? 200 : 206,
                      Json{{"successful", told.successful},
                           {"failed", told.failed},
                           {"total_workers", all},
                           {"message", fmt::format("{} of {} workers", good, all)}}
                          .dump(),
                      kJsonType);
  }

  SmgTransport transport_;
};

}  // namespace

std::unique_ptr<Router> MakeSmgRouter(SmgTransport transport, HttpClient& client, Loop& loop,
                                      ServerLog& log) {
  return std::make_unique<SmgRouter>(transport, client, loop, log);
}

}  // namespace tacho::simulate
