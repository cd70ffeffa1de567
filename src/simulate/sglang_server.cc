#include "simulate/sglang_server.h"

#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "simulate/random.h"
#include "simulate/trace_window.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

constexpr const char* kJson = "application/json";
constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kHealthTimeoutNs = 20 * kSecondNs;

// The one token of a health check: nobody reads it.
struct Probe : TokenListener {
  explicit Probe(std::shared_ptr<bool> answered) : answered_(std::move(answered)) {}
  void OnToken(int64_t, bool) override { *answered_ = true; }
  bool IsWanted() const override { return true; }
  void OnAborted() override {}
  std::shared_ptr<bool> answered_;
};

}  // namespace

Result<std::unique_ptr<SglangServer>> SglangServer::Create(const WorkerOptions& options, Loop& loop,
                                                           ServerLog& log) {
  const auto version = ParseSglangVersion(options.version);
  if (!version) return tl::unexpected<Error>(version.error());
  return std::unique_ptr<SglangServer>(new SglangServer(options, *version, loop, log));
}

SglangServer::SglangServer(const WorkerOptions& options, const SglangVersion& version, Loop& loop,
                           ServerLog& log)
    : Worker(options, loop, log), version_(version) {
  created_s_ = loop.UnixNs(loop.NowNs()) / kSecondNs;
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
    engine.limits = options.limits;
    engine.seed = Mix(options.seed + static_cast<uint64_t>(rank));
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
  for (const char* path : {"/release_memory_occupation", "/resume_memory_occupation"}) {
    routes_.Add(path, "GET, POST", [](const Exchange& e) { e->Respond(200, "null", kJson); });
  }
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

// A scheduler's exception takes the whole server with it: SIGQUIT, and seconds later it is gone.
void SglangServer::SchedulerDied() {
  if (!healthy_) return;
  healthy_ = false;
  log_.Sglang("", "Received sigquit from a child process. It usually means the child failed.");
  for (EngineSlot& slot : engines_) slot.engine->Kill();
  loop_.At(loop_.NowNs() + kSecondNs, [this] { Die(); });
}

void SglangServer::Ready(const Exchange& exchange) {
  exchange->Respond(healthy_ && !paused_ && !Has(FaultKind::kUnhealthy) ? 200 : 503, "", "");
}
void SglangServer::Ping(const Exchange& exchange) {
  exchange->Respond(healthy_ && !Has(FaultKind::kUnhealthy) ? 200 : 503, "", "");
}

// Makes one token when the server has nothing to do, and takes a second in any case.
void SglangServer::Health(const Exchange& exchange) {
  if (!healthy_ || Has(FaultKind::kUnhealthy)) return exchange->Respond(503, "", "");
  Engine& engine = *engines_[0].engine;
  const auto answered = std::make_shared<bool>(!engine.batcher().idle() && !paused_);
  if (!*answered) {
    engine.Submit({next_request_++, 1, 0, 1, loop_.NowNs()}, std::make_shared<Probe>(answered));
  }
  const int64_t give_up = loop_.NowNs() + kHealthTimeoutNs;
  const auto look = std::make_shared<std::function<void()>>();
  // The function holds itself until it has answered.
  *look = [this, exchange, answered, give_up, look] {
    const auto keep = look;
    if (*answered) {
      exchange->Respond(200, "", "");
    } else if (loop_.NowNs() >= give_up || !healthy_) {
      exchange->Respond(503, "", "");
    } else {
      loop_.At(loop_.NowNs() + kSecondNs, *look);
      return;
    }
    *look = nullptr;
  };
  loop_.At(loop_.NowNs() + kSecondNs, *look);
}

void SglangServer::ModelInfo(const Exchange& exchange) {
  const Json info = {{"model_path", options_.cost.model.checkpoint},
                     {"served_model_name", options_.served_model},
                     {"tokenizer_path", options_.cost.model.checkpoint},
                     {"is_generation", true},
                     {"preferred_sampling_params", Json()},
                     {"weight_version", "default"},
                     {"load_format", "auto"},
                     {"reasoning_parser", Json()},
                     {"tool_call_parser", Json()},
                     {"disaggregation_mode", "null"},
                     {"has_image_understanding", false},
                     {"has_audio_understanding", false},
                     {"model_type", "qwen3"},
                     {"architectures", {"Qwen3ForCausalLM"}}};
  exchange->Respond(200, info.dump(), kJson);
}

void SglangServer::ServerInfo(const Exchange& exchange) {
  Json states = Json::array();
  for (const EngineSlot& slot : engines_) {
    states.push_back(
        {{"last_gen_throughput", slot.engine->stats().last_generation_tokens_s},
         {"memory_usage", {{"token_capacity", slot.engine->batcher().limits().cache_tokens}}}});
  }
  const Json info = {{"model_path", options_.cost.model.checkpoint},
                     {"served_model_name", options_.served_model},
                     {"tp_size", options_.cost.tensor_parallel},
                     {"dp_size", options_.data_parallel},
                     {"pp_size", 1},
                     {"ep_size", 1},
                     {"chunked_prefill_size", options_.limits.max_num_batched_tokens},
                     {"max_running_requests", options_.limits.max_num_seqs},
                     {"disable_cuda_graph", false},
                     {"enable_metrics", options_.enable_metrics},
                     {"disaggregation_mode", "null"},
                     {"status", "ready"},
                     {"max_total_num_tokens", options_.limits.cache_tokens},
                     {"max_req_input_len", options_.max_model_len - 6},
                     {"internal_states", states},
                     {"version", version_.text},
                     {"frontend", "python"}};
  exchange->Respond(200, info.dump(), kJson);
}

void SglangServer::Models(const Exchange& exchange) {
  exchange->Respond(
      200,
      fmt::format(
          R"({{"object":"list","data":[{{"id":{0},"object":"model","created":{1},"owned_by":"sglang","root":{0},"parent":null,"max_model_len":{2}}}]}})",
          QuoteJson(options_.served_model), created_s_, options_.max_model_len),
      kJson);
}

void SglangServer::Loads(const Exchange& exchange) {
  Json loads = Json::array();
  for (size_t i = 0; i < engines_.size(); ++i) {
    const Batcher& batcher = engines_[i].engine->batcher();
    loads.push_back({{"dp_rank", i},
                     {"num_running_reqs", batcher.running()},
                     {"num_waiting_reqs", batcher.waiting()},
                     {"num_used_tokens", batcher.cache_tokens_used()},
                     {"max_total_num_tokens", batcher.limits().cache_tokens},
                     {"token_usage", static_cast<double>(batcher.cache_tokens_used()) /
                                         static_cast<double>(batcher.limits().cache_tokens)},
                     {"gen_throughput", engines_[i].engine->stats().last_generation_tokens_s}});
  }
  const int64_t now = loop_.UnixNs(loop_.NowNs());
  const auto seconds = static_cast<std::time_t>(now / kSecondNs);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char time[40];
  const size_t length = std::strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &parts);
  const Json out = {{"timestamp", fmt::format("{}.{:06d}+00:00", std::string(time, length),
                                              now % kSecondNs / 1000)},
                    {"version", version_.text},
                    {"accelerator", options_.cost.hardware.device_name},
                    {"num_accelerators", options_.cost.tensor_parallel},
                    {"loads", loads}};
  exchange->Respond(200, out.dump(), kJson);
}

void SglangServer::Metrics(const Exchange& exchange) {
  std::vector<const Engine*> engines;
  std::vector<const PrefixCache*> prefixes;
  for (const EngineSlot& slot : engines_) {
    engines.push_back(slot.engine.get());
    prefixes.push_back(&slot.prefixes);
  }
  exchange->Respond(200, SglangMetrics(engines, prefixes, options_.served_model, counts_),
                    "text/plain; version=0.0.4; charset=utf-8");
}

void SglangServer::OpenApi(const Exchange& exchange) {
  Json paths = Json::object();
  for (const ApiRoutes::Route& route : routes_.list()) {
    for (const char* method : {"get", "post", "put"}) {
      std::string upper;
      for (const char* c = method; *c != 0; ++c) upper += static_cast<char>(*c - 'a' + 'A');
      if (route.methods.find(upper) == std::string::npos) continue;
      paths[route.path][method] = {
          {"summary", route.path},
          {"responses", {{"200", {{"description", "Successful Response"}}}}}};
    }
  }
  const Json schema = {
      {"anyOf", {{{"$ref", "#/components/schemas/ProfileReq"}}, {{"type", "null"}}}},
      {"title", "Obj"}};
  for (const char* method : {"get", "post"}) {
    paths["/start_profile"][method]["requestBody"] = {
        {"content", {{"application/json", {{"schema", schema}}}}}};
  }
  const auto optional = [](const Json& type) {
    return Json{{"anyOf", {type, {{"type", "null"}}}}, {"title", "Value"}};
  };
  const Json text = {{"type", "string"}}, whole = {{"type", "integer"}},
             flag = {{"type", "boolean"}}, list = {{"type", "array"}, {"items", text}};
  const Json off = {{"type", "boolean"}, {"title", "Flag"}, {"default", false}};
  Json properties = {
      {"rid", optional(text)},
      {"http_worker_ipc", optional(text)},
      {"req_type", {{"$ref", "#/components/schemas/ProfileReqType"}, {"default", 1}}},
      {"output_dir", optional(text)},
      {"start_step", optional(whole)},
      {"num_steps", optional(whole)},
      {"activities", optional(list)},
      {"profile_by_stage", off},
      {"with_stack", optional(flag)},
      {"record_shapes", optional(flag)},
      {"merge_profiles", off},
      {"profile_prefix", optional(text)},
      {"profile_stages", optional(list)}};
  if (version_.honours_profile_id()) properties["profile_id"] = optional(text);
  if (version_.patch >= 21) properties["detailed_annotations"] = off;
  const Json api = {
      {"openapi", "3.1.0"},
      {"info", {{"title", "FastAPI"}, {"version", "0.1.0"}}},
      {"paths", paths},
      {"components",
       {{"schemas", {{"ProfileReq", {{"type", "object"}, {"properties", properties}}}}}}}};
  exchange->Respond(200, api.dump(), kJson);
}

void SglangServer::FlushCache(const Exchange& exchange) {
  for (EngineSlot& slot : engines_) slot.prefixes.Clear();
  exchange->Respond(200,
                    "Cache flushed.\nPlease check backend logs for more details. (When there are "
                    "running or waiting requests, the operation will not be performed.)\n",
                    "");
}

void SglangServer::Pause(const Exchange& exchange) {
  const Json body = Json::parse(exchange->request().body, nullptr, false);
  const bool aborts = !body.is_object() || !body.contains("mode") || body["mode"] == "abort";
  paused_ = true;
  for (EngineSlot& slot : engines_) {
    if (aborts) slot.engine->AbortAll();
    slot.engine->Stall();
  }
  exchange->Respond(200, R"({"message":"Generation paused successfully.","status":"ok"})", kJson);
}

void SglangServer::Continue(const Exchange& exchange) {
  paused_ = false;
  for (EngineSlot& slot : engines_) slot.engine->Resume();
  exchange->Respond(200, R"({"message":"Generation continued successfully.","status":"ok"})",
                    kJson);
}

std::vector<int64_t> SglangServer::WorkerPids() const {
  std::vector<int64_t> pids;
  for (size_t i = 0; i < engines_.size(); ++i) {
    for (int rank = 0; rank < options_.cost.tensor_parallel; ++rank) {
      pids.push_back(profiling_->PidOf(i, rank));
    }
  }
  return pids;
}

void SglangServer::TraceWindow(int64_t start_unix_ns, int64_t duration_ns,
                               std::function<std::string(int64_t pid)> path_of,
                               std::function<void(std::vector<std::string>)> done) {
  TraceWindowOrder order;
  for (EngineSlot& slot : engines_) order.engines.push_back(slot.engine.get());
  order.ranks = options_.cost.tensor_parallel;
  order.source = [this](size_t engine, int rank) {
    TraceSource source = profiling_->SourceOf(engine, rank, {});
    source.names = StepNames::kNone;
    source.scopes = false;  // SGLang names nothing while its own profiler is off
    return source;
  };
  order.start_unix_ns = start_unix_ns;
  order.duration_ns = duration_ns;
  order.path_of = std::move(path_of);
  order.done = std::move(done);
  RecordTraceWindow(loop_, std::move(order));
}

}  // namespace tacho::simulate
