#include <fmt/format.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/time.h"
#include "net/http.h"
#include "simulate/sglang/server.h"

// Answers what SGLang reports about itself: health, settings, load, metrics.
namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

constexpr int64_t kHealthTimeoutNs = 20 * kNsPerSecond;

// Receives the one token of a health check, which nobody reads.
struct Probe : TokenListener {
  explicit Probe(std::shared_ptr<bool> answered) : answered_(std::move(answered)) {}
  void OnToken(int64_t, bool) override { *answered_ = true; }
  bool IsWanted() const override { return true; }
  void OnAborted() override {}
  std::shared_ptr<bool> answered_;
};

}  // namespace

void SglangServer::Ready(const Exchange& exchange) {
  exchange->Respond(healthy_ && !paused_ && !Has(FaultKind::kUnhealthy) ? 200 : 503, "", "");
}
void SglangServer::Ping(const Exchange& exchange) {
  exchange->Respond(healthy_ && !Has(FaultKind::kUnhealthy) ? 200 : 503, "", "");
}

// If the server is idle, generates one token. Takes a second in any case.
void SglangServer::Health(const Exchange& exchange) {
  if (!healthy_ || Has(FaultKind::kUnhealthy)) return exchange->Respond(503, "", "");
  Engine& engine = *engines_[0].engine;
  const auto answered = std::make_shared<bool>(!engine.batcher().idle() && !paused_);
  if (!*answered) {
    engine.Submit({next_request_++, 1, 0, 1, loop_.NowNs()}, std::make_shared<Probe>(answered));
  }
  AnswerHealth(exchange, answered, loop_.NowNs() + kHealthTimeoutNs);
}

// Checks once a second whether the health check's token has come.
void SglangServer::AnswerHealth(const Exchange& exchange, const std::shared_ptr<bool>& answered,
                                int64_t give_up_ns) {
  loop_.At(loop_.NowNs() + kNsPerSecond, [this, exchange, answered, give_up_ns] {
    if (*answered) return exchange->Respond(200, "", "");
    if (loop_.NowNs() >= give_up_ns || !healthy_) return exchange->Respond(503, "", "");
    AnswerHealth(exchange, answered, give_up_ns);
  });
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
  exchange->Respond(200, info.dump(), kJsonType);
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
  exchange->Respond(200, info.dump(), kJsonType);
}

void SglangServer::Models(const Exchange& exchange) {
  exchange->Respond(
      200,
      fmt::format(
          R"({{"object":"list","data":[{{"id":{0},"object":"model","created":{1},"owned_by":"sglang","root":{0},"parent":null,"max_model_len":{2}}}]}})",
          QuoteJson(options_.served_model), created_s_, options_.max_model_len),
      kJsonType);
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
  const auto seconds = static_cast<std::time_t>(now / kNsPerSecond);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char time[40];
  const size_t length = std::strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &parts);
  const Json out = {{"timestamp", fmt::format("{}.{:06d}+00:00", std::string(time, length),
                                              now % kNsPerSecond / 1000)},
                    {"version", version_.text},
                    {"accelerator", options_.cost.hardware.device_name},
                    {"num_accelerators", options_.cost.tensor_parallel},
                    {"loads", loads}};
  exchange->Respond(200, out.dump(), kJsonType);
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
  exchange->Respond(200, api.dump(), kJsonType);
}

}  // namespace tacho::simulate
