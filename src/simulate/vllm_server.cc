#include "simulate/vllm_server.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "simulate/random.h"
#include "simulate/trace_window.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

constexpr const char* kJson = "application/json";

}  // namespace

Result<std::unique_ptr<VllmServer>> VllmServer::Create(const WorkerOptions& options, Loop& loop,
                                                       ServerLog& log) {
  const auto version = ParseVllmVersion(options.version);
  if (!version) return tl::unexpected<Error>(version.error());
  auto config = ParseProfilerConfig(options.profiler_config, *version);
  if (!config) return tl::unexpected<Error>(config.error());
  if (options.faults.Has(FaultKind::kNotFound, options.index)) config->profiler.clear();
  return std::unique_ptr<VllmServer>(new VllmServer(options, *version, *config, loop, log));
}

VllmServer::VllmServer(const WorkerOptions& options, const VllmVersion& version,
                       const VllmProfilerConfig& config, Loop& loop, ServerLog& log)
    : Worker(options, loop, log), version_(version) {
  fingerprint_ = fmt::format("vllm-{}-{:08x}", version.text, Mix(options.seed) & 0xffffffffU);
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
    engine.limits = options.limits;
    engine.seed = Mix(options.seed + static_cast<uint64_t>(rank));
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

// A worker process is gone: the engine core notices, and the server goes down after it.
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

void VllmServer::Health(const Exchange& exchange) {
  const bool good = healthy_ && !Has(FaultKind::kUnhealthy);
  exchange->Respond(good ? 200 : 503, "", "");
}
void VllmServer::Version(const Exchange& exchange) {
  exchange->Respond(200, fmt::format(R"({{"version":"{}"}})", version_.text), kJson);
}
void VllmServer::Load(const Exchange& exchange) {
  exchange->Respond(200, fmt::format(R"({{"server_load":{}}})", answering_), kJson);
}
void VllmServer::Models(const Exchange& exchange) {
  exchange->Respond(
      200,
      fmt::format(
          R"({{"object":"list","data":[{{"id":{0},"object":"model","created":{1},"owned_by":"vllm","root":{2},"parent":null,"max_model_len":{3},"permission":[{{"id":"modelperm-{4:016x}","object":"model_permission","created":{1},"allow_create_engine":false,"allow_sampling":true,"allow_logprobs":true,"allow_search_indices":false,"allow_view":true,"allow_fine_tuning":false,"organization":"*","group":null,"is_blocking":false}}]}}]}})",
          QuoteJson(options_.served_model), created_s_, QuoteJson(options_.cost.model.checkpoint),
          options_.max_model_len, Mix(options_.seed)),
      kJson);
}

void VllmServer::Metrics(const Exchange& exchange) {
  std::vector<const Engine*> engines;
  std::vector<const PrefixCache*> prefixes;
  for (const EngineSlot& slot : engines_) {
    engines.push_back(slot.engine.get());
    prefixes.push_back(&slot.prefixes);
  }
  exchange->Respond(200,
                    VllmMetrics(engines, prefixes, options_.served_model, version_, sleep_level_),
                    "text/plain; version=1.0.0; charset=utf-8");
}

void VllmServer::OpenApi(const Exchange& exchange) {
  Json paths = Json::object();
  for (const ApiRoutes::Route& route : routes_.list()) {
    Json& path = paths[route.path];
    for (const char* method : {"GET", "POST"}) {
      if (route.methods.find(method) == std::string::npos) continue;
      const char* key = method[0] == 'G' ? "get" : "post";
      path[key] = {{"summary", route.path},
                   {"responses", {{"200", {{"description", "Successful Response"}}}}}};
    }
  }
  Json api = {{"openapi", "3.1.0"},
              {"info", {{"title", "FastAPI"}, {"version", "0.1.0"}}},
              {"components", {{"schemas", Json::object()}}}};
  const bool reads_body = version_.generation == VllmGeneration::kLive;
  if (reads_body && profiling_->available()) {
    const Json schema = {
        {"anyOf", {{{"$ref", "#/components/schemas/StartProfileRequest"}}, {{"type", "null"}}}},
        {"title", "Request"}};
    paths["/start_profile"]["post"]["requestBody"] = {
        {"content", {{"application/json", {{"schema", schema}}}}}};
    const auto optional = [](const char* type, const char* title) {
      return Json{{"anyOf", {{{"type", type}}, {{"type", "null"}}}}, {"title", title}};
    };
    api["components"]["schemas"]["StartProfileRequest"] = {
        {"type", "object"},
        {"title", "StartProfileRequest"},
        {"properties",
         {{"profile_prefix", optional("string", "Profile Prefix")},
          {"delay_iterations", optional("integer", "Delay Iterations")},
          {"max_iterations", optional("integer", "Max Iterations")}}}};
  }
  api["paths"] = std::move(paths);
  exchange->Respond(200, api.dump(), kJson);
}

void VllmServer::TokenizeText(const Exchange& exchange) {
  const Json body = Json::parse(exchange->request().body, nullptr, false);
  std::string text;
  if (body.is_object() && body.contains("prompt") && body["prompt"].is_string()) {
    text = body["prompt"].get<std::string>();
  } else if (body.is_object() && body.contains("messages")) {
    text = body["messages"].dump();
  } else {
    exchange->Respond(400, VllmErrorJson({400, "Field required", "Bad Request", "body.prompt"}),
                      kJson);
    return;
  }
  const auto tokens = Tokenize(text, options_.cost.model.vocabulary);
  exchange->Respond(
      200,
      fmt::format(R"({{"count":{},"max_model_len":{},"tokens":[{}],"token_strs":null}})",
                  tokens.size(), options_.max_model_len, fmt::join(tokens, ",")),
      kJson);
}

void VllmServer::StartProfile(const Exchange& exchange) { profiling_->Start(exchange); }
void VllmServer::StopProfile(const Exchange& exchange) { profiling_->Stop(exchange); }

void VllmServer::ServerInfo(const Exchange& exchange) {
  const bool as_json = QueryValue(exchange->request().query, "config_format") == "json";
  const std::string config = ProfilerConfigJson(profiling_->config());
  const Json profiler = Json::parse(config);
  const Json info = {
      {"vllm_config",
       as_json ? Json{{"profiler_config", profiler},
                      {"parallel_config",
                       {{"tensor_parallel_size", options_.cost.tensor_parallel},
                        {"pipeline_parallel_size", 1},
                        {"data_parallel_size", options_.data_parallel}}},
                      {"scheduler_config",
                       {{"max_num_seqs", options_.limits.max_num_seqs},
                        {"max_num_batched_tokens", options_.limits.max_num_batched_tokens},
                        {"enable_chunked_prefill", options_.limits.chunked_prefill}}},
                      {"model_config",
                       {{"model", options_.cost.model.checkpoint},
                        {"served_model_name", options_.served_model},
                        {"max_model_len", options_.max_model_len},
                        {"enforce_eager", false}}},
                      {"observability_config", Json::object()},
                      {"instance_id", fmt::format("{:05x}", options_.pid)}}
               : Json(fmt::format("model='{}', tensor_parallel_size={}, profiler_config={}",
                                  options_.cost.model.checkpoint, options_.cost.tensor_parallel,
                                  config))},
      {"vllm_env", {{"VLLM_SERVER_DEV_MODE", true}}},
      {"system_env", {{"torch_version", "2.13.0"}, {"cuda_runtime_version", "12.9"}}}};
  exchange->Respond(200, info.dump(), kJson);
}

void VllmServer::Sleep(const Exchange& exchange) {
  const std::string level = QueryValue(exchange->request().query, "level");
  sleeping_ = true;
  sleep_level_ = level == "2" ? 2 : 1;
  exchange->Respond(200, fmt::format(R"({{"status":"sleeping","level":{}}})", sleep_level_), kJson);
}
void VllmServer::WakeUp(const Exchange& exchange) {
  sleeping_ = false;
  sleep_level_ = 0;
  exchange->Respond(200, R"({"status":"awake","tags":null})", kJson);
}
void VllmServer::IsSleeping(const Exchange& exchange) {
  exchange->Respond(200, fmt::format(R"({{"is_sleeping":{}}})", sleeping_), kJson);
}
void VllmServer::WorldSize(const Exchange& exchange) {
  exchange->Respond(
      200,
      fmt::format(R"({{"world_size":{}}})", options_.cost.tensor_parallel * options_.data_parallel),
      kJson);
}
void VllmServer::ResetPrefixCache(const Exchange& exchange) {
  for (EngineSlot& slot : engines_) slot.prefixes.Clear();
  exchange->Respond(200, "", kJson);
}

void VllmServer::CollectiveRpc(const Exchange& exchange) {
  const Json body = Json::parse(exchange->request().body, nullptr, false);
  const std::string method =
      body.is_object() && body.contains("method") ? body["method"].dump() : "";
  if (method != "\"profile\"" || !profiling_->available()) {
    exchange->Respond(
        500,
        VllmErrorJson({500, "Call to collective_rpc method failed", "InternalServerError", ""}),
        kJson);
    return;
  }
  const auto found = body.find("args");
  const Json args = found != body.end() && found->is_array() ? *found : Json::array();
  const bool starts = args.empty() || !args[0].is_boolean() || args[0].get<bool>();
  std::string results = "null";
  for (int i = 1; i < options_.cost.tensor_parallel; ++i) results += ",null";
  const auto answer = [exchange, results](bool died) {
    exchange->Respond(died ? 500 : 200, "{\"results\":[" + results + "]}", kJson);
  };
  if (starts) {
    const std::string prefix =
        args.size() > 1 && args[1].is_string() ? args[1].get<std::string>() : "";
    profiling_->StartWorkers(prefix, [answer] { answer(false); });
  } else {
    profiling_->StopWorkers(answer);
  }
}

std::vector<int64_t> VllmServer::WorkerPids() const {
  std::vector<int64_t> pids;
  for (size_t i = 0; i < engines_.size(); ++i) {
    for (int rank = 0; rank < options_.cost.tensor_parallel; ++rank) {
      pids.push_back(profiling_->PidOf(i, rank));
    }
  }
  return pids;
}

void VllmServer::TraceWindow(int64_t start_unix_ns, int64_t duration_ns,
                             std::function<std::string(int64_t pid)> path_of,
                             std::function<void(std::vector<std::string>)> done) {
  TraceWindowOrder order;
  for (EngineSlot& slot : engines_) order.engines.push_back(slot.engine.get());
  order.ranks = options_.cost.tensor_parallel;
  order.source = [this](size_t engine, int rank) {
    TraceSource source = profiling_->SourceOf(engine, rank);
    source.names = StepNames::kNone;  // vLLM names its steps only for its own profiler
    return source;
  };
  order.start_unix_ns = start_unix_ns;
  order.duration_ns = duration_ns;
  order.path_of = std::move(path_of);
  order.done = std::move(done);
  RecordTraceWindow(loop_, std::move(order));
}

}  // namespace tacho::simulate
