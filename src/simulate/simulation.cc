#include "simulate/simulation.h"

#include <fmt/format.h>

#include <random>

#include "base/random.h"
#include "net/http_client.h"
#include "simulate/admission.h"
#include "simulate/hosted/hosted_server.h"
#include "simulate/router/router.h"
#include "simulate/server_loop.h"
#include "simulate/sglang/server.h"
#include "simulate/vllm/server.h"

namespace tacho::simulate {
namespace {

// Turns a library's exception (as for unexpected JSON) into an answer, so that it does not end the
// program.
template <typename Do>
HttpHandler Guarded(Do handle) {
  return [handle](const std::shared_ptr<HttpExchange>& exchange) {
    try {
      handle(exchange);
    } catch (const std::exception& exception) {
      exchange->Respond(500, std::string("Internal Server Error: ") + exception.what(),
                        "text/plain; charset=utf-8");
    }
  };
}

constexpr size_t kMostThreads = 64;  // threads that write traces
constexpr int64_t kPidsAWorker = 100;

class RunningSimulation : public Simulation {
 public:
  ~RunningSimulation() override {
    if (server_) {
      for (const uint16_t port : ports_) server_->Close(port);
    }
    if (loop_) loop_->Close();
    client_.reset();
    server_.reset();
  }

  Result<void> Begin(const SimulationOptions& options) {
    if (!log_.Open(options.log_path)) {
      return Fail(ErrorKind::kOutput, fmt::format("{}: cannot be written", options.log_path));
    }
    TACHO_ASSIGN_OR_RETURN(server_, HttpServer::Create({.gate = AdmitRequest}));
    TACHO_ASSIGN_OR_RETURN(client_, HttpClient::Create());
    loop_ = std::make_unique<ServerLoop>(*server_, kMostThreads);
    for (int64_t i = 0; i < options.count; ++i) {
      TACHO_RETURN_IF_ERROR(AddWorker(options, options.first_index + i));
    }
    places_.insert(places_.end(), options.elsewhere.begin(), options.elsewhere.end());
    if (options.router != RouterKind::kNone) TACHO_RETURN_IF_ERROR(AddRouter(options));
    return {};
  }

  std::string RouterUrl() const override { return router_url_; }
  std::string PrometheusUrl() const override { return prometheus_url_; }
  const std::vector<WorkerPlace>& workers() const override { return places_; }

  void TraceWindow(size_t worker, TraceWindowOrder order) override {
    loop_->Post(
        [this, worker, order = std::move(order)] { workers_.at(worker)->TraceWindow(order); });
  }

 private:
  std::unique_ptr<Router> MakeRouter(RouterKind kind) {
    switch (kind) {
      case RouterKind::kVllm:
        return MakeVllmRouter(*client_, *loop_, log_);
      case RouterKind::kSmg:
        return MakeSmgRouter(SmgTransport::kHttp, *client_, *loop_, log_);
      case RouterKind::kSmgGrpc:
        return MakeSmgRouter(SmgTransport::kGrpc, *client_, *loop_, log_);
      case RouterKind::kSmgZmq:
        return MakeSmgRouter(SmgTransport::kZmq, *client_, *loop_, log_);
      case RouterKind::kDynamo:
        return MakeDynamoFrontEnd(*client_, *loop_, log_);
      case RouterKind::kSglang:
      case RouterKind::kNone:
        break;
    }
    return MakeSglangRouter(*client_, *loop_, log_);
  }

  Result<std::unique_ptr<Worker>> MakeWorker(const WorkerOptions& options) {
    if (options.host != HostKind::kNone) return MakeHostedServer(options, *loop_, log_);
    if (options.kind == SimulatedEngine::kVllm) return VllmServer::Create(options, *loop_, log_);
    return SglangServer::Create(options, *loop_, log_);
  }

  Result<void> AddWorker(const SimulationOptions& options, int64_t index) {
    WorkerOptions own = options.worker;
    own.index = index;
    if (own.rank_pids.empty()) own.pid += index * kPidsAWorker;
    own.instance_id = fmt::format("{:05x}", std::random_device()() & 0xfffff);
    own.seed = HashNumber(own.seed * 1000 + static_cast<uint64_t>(index));
    TACHO_ASSIGN_OR_RETURN(auto made, MakeWorker(own));
    Worker* worker = made.get();
    workers_.push_back(std::move(made));
    const bool is_front = options.router == RouterKind::kNone;
    const uint16_t first = is_front ? options.port : options.worker_port;
    const auto wanted = static_cast<uint16_t>(first == 0 ? 0 : first + index);
    TACHO_ASSIGN_OR_RETURN(
        const auto port,
        server_->Listen(options.host, wanted, Guarded([worker](const auto& exchange) {
                          worker->alive() ? worker->Handle(exchange) : exchange->Abort();
                        })));
    ports_.push_back(port);
    worker->set_on_death([this, port, on_death = options.on_death] {
      server_->Close(port);
      if (on_death) on_death();
    });
    worker->OnListening(port);
    places_.push_back(
        {fmt::format("http://{}:{}", options.host, port), own.pid, worker->RankPids()});
    return {};
  }

  Result<void> AddRouter(const SimulationOptions& options) {
    router_ = MakeRouter(options.router);
    for (size_t i = 0; i < places_.size(); ++i) {
      const int ranks = options.router_per_rank ? options.worker.data_parallel : 0;
      Upstream upstream;
      upstream.url = places_[i].url;
      if (i < workers_.size()) upstream.local = workers_[i].get();
      upstream.kind = options.worker.kind;
      upstream.model = options.worker.served_model;
      upstream.model_path = options.worker.cost.model.checkpoint;
      upstream.tensor_parallel = options.worker.cost.tensor_parallel;
      upstream.data_parallel = options.worker.data_parallel;
      if (ranks == 0) router_->Add(upstream);
      for (int rank = 0; rank < ranks; ++rank) {
        upstream.rank = rank;
        router_->Add(upstream);
      }
    }
    TACHO_ASSIGN_OR_RETURN(
        const auto port, server_->Listen(options.host, options.port, [this](const auto& exchange) {
          router_->Handle(exchange);
        }));
    ports_.push_back(port);
    TACHO_ASSIGN_OR_RETURN(
        const auto prometheus, server_->Listen(options.host, 0, [this](const auto& exchange) {
          if (exchange->request().path == "/metrics") {
            exchange->Respond(200, router_->Metrics(), "text/plain; version=0.0.4");
          } else {
            exchange->Respond(404, "", "text/plain");
          }
        }));
    ports_.push_back(prometheus);
    router_url_ = fmt::format("http://{}:{}", options.host, port);
    prometheus_url_ = fmt::format("http://{}:{}/metrics", options.host, prometheus);
    router_->OnListening(options.host, port);
    // slime and vime print this line.
    log_.Line(fmt::format("(RolloutManager pid={}) Router launched at {}:{}, Prometheus port: {}",
                          options.worker.pid - 1, options.host, port, prometheus));
    return {};
  }

  ServerLog log_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<HttpClient> client_;
  std::unique_ptr<ServerLoop> loop_;
  std::unique_ptr<Router> router_;  // must outlive the workers, whose open answers end in it
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<WorkerPlace> places_;
  std::vector<uint16_t> ports_;
  std::string router_url_, prometheus_url_;
};

}  // namespace

Result<std::unique_ptr<Simulation>> Simulation::Start(const SimulationOptions& options) {
  auto simulation = std::make_unique<RunningSimulation>();
  TACHO_RETURN_IF_ERROR(simulation->Begin(options));
  return simulation;
}

}  // namespace tacho::simulate
