#include "simulate/vllm/server.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/random.h"
#include "simulate/trace/trace_window.h"

namespace tacho::simulate {
Result<std::unique_ptr<VllmServer>> VllmServer::Create(const WorkerOptions& options, Loop& loop,
                                                       ServerLog& log) {
  TACHO_ASSIGN_OR_RETURN(const auto version, ParseVllmVersion(options.version));
  TACHO_ASSIGN_OR_RETURN(auto config, ParseProfilerConfig(options.profiler_config, version));
  if (options.faults.Has(FaultKind::kNotFound, options.index)) config.profiler.clear();
  return std::unique_ptr<VllmServer>(new VllmServer(options, version, config, loop, log));
}

VllmServer::VllmServer(const WorkerOptions& options, const VllmVersion& version,
                       const VllmProfilerConfig& config, Loop& loop, ServerLog& log)
    : Worker(options, loop, log), version_(version) {
  fingerprint_ =
      fmt::format("vllm-{}-{:08x}", version.text, HashNumber(options.seed) & 0xffffffffU);
  created_s_ = loop.UnixNs(loop.NowNs()) / 1'000'000'000;
  VllmProfiling::Parts parts;
  parts.options = &options_;
  parts.version = version;
  parts.config = config;
  parts.loop = &loop;
  parts.log = &log;
  parts.die = [this] { EngineDied(); };
  for (int rank = 0; rank < options.data_parallel; ++rank) {
    EngineOptions engine;
    engine.kind = SimulatedEngine::kVllm;
    engine.cost = options.cost;
    engine.profiler_slowdown = options.profiler_slowdown;
    engine.limits = options.limits;
    engine.seed = HashNumber(options.seed + static_cast<uint64_t>(rank));
    EngineSlot& slot = engines_.emplace_back();
    slot.engine = std::make_unique<Engine>(engine, loop);
    parts.engines.push_back(slot.engine.get());
  }
  profiling_ = std::make_unique<VllmProfiling>(std::move(parts));
  AddRoutes();
  const Fault* mortal = options_.faults.Find(FaultKind::kDieInLoad, options_.index);
  for (size_t i = 0; i < engines_.size(); ++i) {
    engines_[i].engine->set_step_done([this, i, mortal](const RecordedStep& step, int64_t dur_ns) {
      const StepLoad& load = step.load;
      if (options_.logs_iterations && !load.empty()) {
        log_.Vllm("APIServer", options_.pid, "INFO", "loggers.py:199",
                  fmt::format("Engine {:03d}: Iteration({}): {} context requests, {} context "
                              "tokens, {} generation requests, {} generation tokens, iteration "
                              "elapsed time: {:.2f} ms, GPU KV cache usage: {:.1f}%",
                              i, engines_[i].engine->stats().steps - 1, load.context.requests,
                              load.context.tokens, load.generation.requests, load.generation.tokens,
                              static_cast<double>(dur_ns) / 1e6, 0.0));
      }
      const auto steps = static_cast<int64_t>(engines_[i].engine->stats().steps);
      if (mortal != nullptr && steps >= mortal->amount) EngineDied();
    });
  }
}

void VllmServer::AddRoutes() {
  const auto add = [this](const char* path, const char* methods,
                          void (VllmServer::*handle)(const Exchange&)) {
    routes_.Add(path, methods, [this, handle](const Exchange& e) { (this->*handle)(e); });
  };
  add("/health", "GET", &VllmServer::Health);
  add("/ping", "GET, POST", &VllmServer::Health);
  add("/version", "GET", &VllmServer::Version);
  add("/load", "GET", &VllmServer::Load);
  add("/v1/models", "GET", &VllmServer::Models);
  add("/metrics", "GET", &VllmServer::Metrics);
  add("/openapi.json", "GET", &VllmServer::OpenApi);
  add("/tokenize", "POST", &VllmServer::TokenizeText);
  add("/v1/completions", "POST", &VllmServer::Completions);
  add("/v1/chat/completions", "POST", &VllmServer::ChatCompletions);
  if (profiling_->available()) {
    add("/start_profile", "POST", &VllmServer::StartProfile);
    add("/stop_profile", "POST", &VllmServer::StopProfile);
  }
  if (!options_.dev_mode) return;
  add("/server_info", "GET", &VllmServer::ServerInfo);
  add("/sleep", "POST", &VllmServer::Sleep);
  add("/wake_up", "POST", &VllmServer::WakeUp);
  add("/is_sleeping", "GET", &VllmServer::IsSleeping);
  add("/get_world_size", "GET", &VllmServer::WorldSize);
  add("/collective_rpc", "POST", &VllmServer::CollectiveRpc);
  add("/reset_prefix_cache", "POST", &VllmServer::ResetPrefixCache);
}

void VllmServer::Handle(const Exchange& exchange) { routes_.Handle(exchange); }

void VllmServer::OnListening(uint16_t port) {
  const auto line = [&](std::string_view place, const std::string& text) {
    log_.Vllm("APIServer", options_.pid, "INFO", place, text);
  };
  line("api_server.py:1971", fmt::format("vLLM API server version {}", version_.text));
  line("api_server.py:1822", fmt::format("Starting vLLM API server 0 on http://0.0.0.0:{}", port));
  line("launcher.py:46", "Available routes are:");
  for (const ApiRoutes::Route& route : routes_.list()) {
    line("launcher.py:54", fmt::format("Route: {}, Methods: {}", route.path, route.methods));
  }
  log_.Line(
      fmt::format("(APIServer pid={}) INFO:     Application startup complete.", options_.pid));
}

// Called when a worker process has died: the engine core notices it, and then the server ends.
void VllmServer::EngineDied() {
  if (!healthy_) return;
  healthy_ = false;
  log_.Vllm("EngineCore", options_.pid + 1, "ERROR", "multiproc_executor.py:270",
            "Worker proc VllmWorker-0 died unexpectedly (exit code: -9), shutting down executor.");
  for (EngineSlot& slot : engines_) slot.engine->Kill();
  loop_.At(loop_.NowNs() + 1'500'000'000, [this] {
    log_.Vllm("APIServer", options_.pid, "ERROR", "launcher.py:112",
              "RuntimeError: Executor failed.");
    Die();
  });
}

void VllmServer::StartProfile(const Exchange& exchange) { profiling_->Start(exchange); }
void VllmServer::StopProfile(const Exchange& exchange) { profiling_->Stop(exchange); }

void VllmServer::TraceWindow(const TraceWindowOrder& order) {
  for (size_t i = 0; i < engines_.size(); ++i) {
    for (int rank = 0; rank < options_.cost.tensor_parallel; ++rank) {
      if (options_.PidOf(i, rank) != order.pid) continue;
      RecordTraceWindow(loop_, *engines_[i].engine, profiling_->SourceOf(i, rank), options_.faults,
                        options_.index, order, [this] { EngineDied(); });
      return;
    }
  }
  RecordEmptyWindow(loop_, profiling_->SourceOf(0, 0), order);
}

}  // namespace tacho::simulate
