#include "simulate/sglang/server.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/parse_json.h"
#include "base/random.h"
#include "base/time.h"
#include "net/http.h"
#include "simulate/trace/trace_window.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

}  // namespace

Result<std::unique_ptr<SglangServer>> SglangServer::Create(const WorkerOptions& options, Loop& loop,
                                                           ServerLog& log) {
  TACHO_ASSIGN_OR_RETURN(const auto version, ParseSglangVersion(options.version));
  return std::unique_ptr<SglangServer>(new SglangServer(options, version, loop, log));
}

SglangServer::SglangServer(const WorkerOptions& options, const SglangVersion& version, Loop& loop,
                           ServerLog& log)
    : Worker(options, loop, log), version_(version) {
  created_s_ = loop.UnixNs(loop.NowNs()) / kNsPerSecond;
  SglangProfiling::Parts parts;
  parts.options = &options_;
  parts.version = version;
  parts.loop = &loop;
  parts.log = &log;
  parts.die = [this] { SchedulerDied(); };
  for (int rank = 0; rank < options.data_parallel; ++rank) {
    EngineOptions engine;
    engine.kind = SimulatedEngine::kSglang;
    engine.cost = options.cost;
    engine.profiler_slowdown = options.profiler_slowdown;
    engine.limits = options.limits;
    engine.seed = HashNumber(options.seed + static_cast<uint64_t>(rank));
    engine.empty_step_at_end = false;
    EngineSlot& slot = engines_.emplace_back();
    slot.engine = std::make_unique<Engine>(engine, loop);
    parts.engines.push_back(slot.engine.get());
  }
  profiling_ = std::make_unique<SglangProfiling>(std::move(parts));
  const Fault* mortal = options_.faults.Find(FaultKind::kDieInLoad, options_.index);
  for (size_t i = 0; i < engines_.size(); ++i) {
    engines_[i].engine->set_step_done([this, i, mortal](const RecordedStep& step, int64_t) {
      LogStep(i, step);
      const auto steps = static_cast<int64_t>(engines_[i].engine->stats().steps);
      if (mortal != nullptr && steps >= mortal->amount) SchedulerDied();
    });
  }
  AddRoutes();
}

void SglangServer::AddRoutes() {
  const auto add = [this](const char* path, const char* methods,
                          void (SglangServer::*handle)(const Exchange&)) {
    routes_.Add(path, methods, [this, handle](const Exchange& e) { (this->*handle)(e); });
  };
  add("/ready", "GET", &SglangServer::Ready);
  add("/ping", "GET", &SglangServer::Ping);
  add("/health", "GET", &SglangServer::Health);
  add("/health_generate", "GET", &SglangServer::Health);
  add("/model_info", "GET", &SglangServer::ModelInfo);
  add("/get_model_info", "GET", &SglangServer::ModelInfo);
  add("/server_info", "GET", &SglangServer::ServerInfo);
  add("/get_server_info", "GET", &SglangServer::ServerInfo);
  add("/v1/models", "GET", &SglangServer::Models);
  add("/v1/loads", "GET", &SglangServer::Loads);
  add("/openapi.json", "GET", &SglangServer::OpenApi);
  add("/flush_cache", "GET, POST", &SglangServer::FlushCache);
  add("/pause_generation", "POST", &SglangServer::Pause);
  add("/continue_generation", "POST", &SglangServer::Continue);
  add("/generate", "POST, PUT", &SglangServer::Generate);
  routes_.Add("/v1/completions", "POST", [this](const Exchange& e) { Complete(e, false); });
  routes_.Add("/v1/chat/completions", "POST", [this](const Exchange& e) { Complete(e, true); });
  routes_.Add("/start_profile", "GET, POST", [this](const Exchange& e) { profiling_->Start(e); });
  routes_.Add("/stop_profile", "GET, POST", [this](const Exchange& e) { profiling_->Stop(e); });
  add("/release_memory_occupation", "GET, POST", &SglangServer::ReleaseMemory);
  add("/resume_memory_occupation", "GET, POST", &SglangServer::ResumeMemory);
  routes_.Add("/abort_request", "POST", [](const Exchange& e) { e->Respond(200, "", ""); });
  if (options_.enable_metrics) add("/metrics", "GET", &SglangServer::Metrics);
}

void SglangServer::Handle(const Exchange& exchange) {
  const ServerRequest& request = exchange->request();
  if (routes_.Knows(request.path)) {
    ++counts_.requests[{request.path, request.method}];
    ++counts_.responses[{request.path, request.method}];
  }
  routes_.Handle(exchange);
}

void SglangServer::OnListening(uint16_t port) {
  log_.Sglang("", fmt::format("server_args=ServerArgs(model_path='{}', host='0.0.0.0', port={}, "
                              "tp_size={}, dp_size={})",
                              options_.cost.model.checkpoint, port, options_.cost.tensor_parallel,
                              options_.data_parallel));
  log_.Sglang("", fmt::format("INFO:     Uvicorn running on http://0.0.0.0:{}", port));
  log_.Sglang("", "The server is fired up and ready to roll!");
}

void SglangServer::LogStep(size_t engine, const RecordedStep& step) {
  const Batcher& batcher = engines_[engine].engine->batcher();
  const double usage = static_cast<double>(batcher.cache_tokens_used()) /
                       static_cast<double>(batcher.limits().cache_tokens);
  const std::string rank = profiling_->RankText(engine);
  const StepLoad& load = step.load;
  if (load.context.requests > 0) {
    log_.Sglang(rank,
                fmt::format("Prefill batch, #new-seq: {}, #new-token: {}, #cached-token: 0, token "
                            "usage: {:.2f}, #running-req: {}, #queue-req: {}, #pending-token: 0, "
                            "cpu graph: False, input throughput (token/s): 0.00",
                            load.context.requests, load.context.tokens, usage, batcher.running(),
                            batcher.waiting()));
  } else if (++engines_[engine].decode_steps % 40 == 0) {
    log_.Sglang(rank, fmt::format("Decode batch, #running-req: {}, #token: {}, token usage: "
                                  "{:.2f}, cuda graph: True, gen throughput (token/s): {:.2f}, "
                                  "#queue-req: {}",
                                  load.generation.requests, batcher.cache_tokens_used(), usage,
                                  engines_[engine].engine->stats().last_generation_tokens_s,
                                  batcher.waiting()));
  }
}

// An exception in a scheduler ends the whole server: it gets a SIGQUIT and is gone seconds later.
void SglangServer::SchedulerDied() {
  if (!healthy_) return;
  healthy_ = false;
  log_.Sglang("", "Received sigquit from a child process. It usually means the child failed.");
  for (EngineSlot& slot : engines_) slot.engine->Kill();
  loop_.At(loop_.NowNs() + kNsPerSecond, [this] { Die(); });
}

void SglangServer::FlushCache(const Exchange& exchange) {
  for (EngineSlot& slot : engines_) slot.prefixes.Clear();
  exchange->Respond(200,
                    "Cache flushed.\nPlease check backend logs for more details. (When there are "
                    "running or waiting requests, the operation will not be performed.)\n",
                    "");
}

void SglangServer::Pause(const Exchange& exchange) {
  const Json body = ParseJson(exchange->request().body);
  const bool aborts = !body.is_object() || !body.contains("mode") || body["mode"] == "abort";
  paused_ = true;
  for (EngineSlot& slot : engines_) {
    if (aborts) slot.engine->AbortAll();
    slot.engine->Stall();
  }
  exchange->Respond(200, R"({"message":"Generation paused successfully.","status":"ok"})",
                    kJsonType);
}

void SglangServer::Continue(const Exchange& exchange) {
  paused_ = false;
  for (EngineSlot& slot : engines_) slot.engine->Resume();
  exchange->Respond(200, R"({"message":"Generation continued successfully.","status":"ok"})",
                    kJsonType);
}

// If SGLang's scheduler is not idle, an assertion ends it.
void SglangServer::ReleaseMemory(const Exchange& exchange) {
  for (const EngineSlot& slot : engines_)
    if (!slot.engine->batcher().idle()) return SchedulerDied();
  memory_released_ = true;
  exchange->Respond(200, "null", kJsonType);
}

// SGLang's scheduler removes each tag from the set of released tags. That raises a KeyError if the
// tag is not in the set.
void SglangServer::ResumeMemory(const Exchange& exchange) {
  if (!memory_released_) return SchedulerDied();
  memory_released_ = false;
  exchange->Respond(200, "null", kJsonType);
}

void SglangServer::TraceWindow(const TraceWindowOrder& order) {
  for (size_t i = 0; i < engines_.size(); ++i) {
    for (int rank = 0; rank < options_.cost.tensor_parallel; ++rank) {
      if (options_.PidOf(i, rank) != order.pid) continue;
      RecordTraceWindow(loop_, *engines_[i].engine, profiling_->SourceOf(i, rank, {}),
                        options_.faults, options_.index, order, [this] { SchedulerDied(); });
      return;
    }
  }
  RecordEmptyWindow(loop_, profiling_->SourceOf(0, 0, {}), order);
}

}  // namespace tacho::simulate
