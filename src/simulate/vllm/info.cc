#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "base/random.h"
#include "net/http.h"
#include "simulate/vllm/server.h"

// Answers what vLLM reports about itself, and the routes of its development mode.
namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

}  // namespace

void VllmServer::Health(const Exchange& exchange) {
  const bool good = healthy_ && !Has(FaultKind::kUnhealthy);
  exchange->Respond(good ? 200 : 503, "", "");
}
void VllmServer::Version(const Exchange& exchange) {
  exchange->Respond(200, fmt::format(R"({{"version":"{}"}})", version_.text), kJsonType);
}
void VllmServer::Load(const Exchange& exchange) {
  exchange->Respond(200, fmt::format(R"({{"server_load":{}}})", answering_), kJsonType);
}
void VllmServer::Models(const Exchange& exchange) {
  exchange->Respond(
      200,
      fmt::format(
          R"({{"object":"list","data":[{{"id":{0},"object":"model","created":{1},"owned_by":"vllm","root":{2},"parent":null,"max_model_len":{3},"permission":[{{"id":"modelperm-{4:016x}","object":"model_permission","created":{1},"allow_create_engine":false,"allow_sampling":true,"allow_logprobs":true,"allow_search_indices":false,"allow_view":true,"allow_fine_tuning":false,"organization":"*","group":null,"is_blocking":false}}]}}]}})",
          QuoteJson(options_.served_model), created_s_, QuoteJson(options_.cost.model.checkpoint),
          options_.max_model_len, HashNumber(options_.seed)),
      kJsonType);
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
    if (version_.takes_kwargs())
      api["components"]["schemas"]["StartProfileRequest"]["properties"]["profiler_kwargs"] =
          optional("object", "Profiler Kwargs");
  }
  api["paths"] = std::move(paths);
  exchange->Respond(200, api.dump(), kJsonType);
}

void VllmServer::TokenizeText(const Exchange& exchange) {
  const Json body = ParseJson(exchange->request().body);
  std::string text;
  if (body.is_object() && body.contains("prompt") && body["prompt"].is_string()) {
    text = body["prompt"].get<std::string>();
  } else if (body.is_object() && body.contains("messages")) {
    text = body["messages"].dump();
  } else {
    exchange->Respond(400, VllmErrorJson({400, "Field required", "Bad Request", "body.prompt"}),
                      kJsonType);
    return;
  }
  const auto tokens = Tokenize(text, options_.cost.model.vocabulary);
  exchange->Respond(
      200,
      fmt::format(R"({{"count":{},"max_model_len":{},"tokens":[{}],"token_strs":null}})",
                  tokens.size(), options_.max_model_len, fmt::join(tokens, ",")),
      kJsonType);
}

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
                      {"instance_id", options_.instance_id}}
               : Json(fmt::format("model='{}', tensor_parallel_size={}, profiler_config={}",
                                  options_.cost.model.checkpoint, options_.cost.tensor_parallel,
                                  config))},
      {"vllm_env", {{"VLLM_SERVER_DEV_MODE", true}}},
      {"system_env", {{"torch_version", "2.13.0"}, {"cuda_runtime_version", "12.9"}}}};
  exchange->Respond(200, info.dump(), kJsonType);
}

void VllmServer::Sleep(const Exchange& exchange) {
  const std::string level = QueryValue(exchange->request().query, "level");
  sleeping_ = true;
  sleep_level_ = level == "2" ? 2 : 1;
  exchange->Respond(200, fmt::format(R"({{"status":"sleeping","level":{}}})", sleep_level_),
                    kJsonType);
}
void VllmServer::WakeUp(const Exchange& exchange) {
  sleeping_ = false;
  sleep_level_ = 0;
  exchange->Respond(200, R"({"status":"awake","tags":null})", kJsonType);
}
void VllmServer::IsSleeping(const Exchange& exchange) {
  exchange->Respond(200, fmt::format(R"({{"is_sleeping":{}}})", sleeping_), kJsonType);
}
void VllmServer::WorldSize(const Exchange& exchange) {
  exchange->Respond(
      200,
      fmt::format(R"({{"world_size":{}}})", options_.cost.tensor_parallel * options_.data_parallel),
      kJsonType);
}
void VllmServer::ResetPrefixCache(const Exchange& exchange) {
  for (EngineSlot& slot : engines_) slot.prefixes.Clear();
  exchange->Respond(200, "", kJsonType);
}

void VllmServer::CollectiveRpc(const Exchange& exchange) {
  const Json body = ParseJson(exchange->request().body);
  const std::string method =
      body.is_object() && body.contains("method") ? body["method"].dump() : "";
  if (method != "\"profile\"" || !profiling_->available()) {
    exchange->Respond(
        500,
        VllmErrorJson({500, "Call to collective_rpc method failed", "InternalServerError", ""}),
        kJsonType);
    return;
  }
  const auto found = body.find("args");
  const Json args = found != body.end() && found->is_array() ? *found : Json::array();
  const bool starts = args.empty() || !args[0].is_boolean() || args[0].get<bool>();
  std::string results = "null";
  for (int i = 1; i < options_.cost.tensor_parallel; ++i) results += ",null";
  const auto answer = [exchange, results](bool died) {
    exchange->Respond(died ? 500 : 200, "{\"results\":[" + results + "]}", kJsonType);
  };
  if (starts) {
    const std::string prefix =
        args.size() > 1 && args[1].is_string() ? args[1].get<std::string>() : "";
    profiling_->StartWorkers(prefix, [answer] { answer(false); });
  } else {
    profiling_->StopWorkers(answer);
  }
}

}  // namespace tacho::simulate
