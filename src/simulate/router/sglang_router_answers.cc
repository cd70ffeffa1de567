#include "simulate/router/sglang_router_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/random.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

Json Describe(const Upstream& u) {
  return {{"id", UuidOf(u)},
          {"url", u.Listed()},
          {"model_id", u.model.empty() ? "unknown" : u.model},
          {"priority", 50},
          {"cost", 1.0},
          {"worker_type", u.type},
          {"is_healthy", u.Answers()},
          {"load", u.load},
          {"connection_mode", "HTTP"},
          {"metadata",
           {{"architectures", "[\"Qwen3ForCausalLM\"]"},
            {"disaggregation_mode", "null"},
            {"dp_size", std::to_string(u.data_parallel)},
            {"load_balance_method", "round_robin"},
            {"model_path", u.model_path},
            {"model_type", "qwen3"},
            {"served_model_name", u.model},
            {"tp_size", std::to_string(u.tensor_parallel)}}},
          {"disable_health_check", false}};
}

}  // namespace

std::string UuidOf(const Upstream& upstream) {
  const uint64_t a = HashNumber(upstream.id), b = HashNumber(a);
  return fmt::format("{:08x}-{:04x}-4{:03x}-9{:03x}-{:012x}", a >> 32, (a >> 16) & 0xffff,
                     a & 0xfff, b >> 52, b & 0xffffffffffff);
}

std::string WorkerJson(const Upstream& upstream, const std::string& failure, int64_t now_s) {
  Json worker = Describe(upstream);
  if (!failure.empty()) {
    worker["job_status"] = {{"job_type", "AddWorker"},
                            {"worker_url", upstream.url},
                            {"status", "failed"},
                            {"message", failure},
                            {"timestamp", now_s}};
  }
  return worker.dump();
}

std::string WorkersJson(const std::vector<Upstream>& upstreams) {
  Json workers = Json::array();
  for (const Upstream& u : upstreams) workers.push_back(Describe(u));
  return Json{
      {"workers", workers},
      {"total", upstreams.size()},
      {"stats", {{"prefill_count", 0}, {"decode_count", 0}, {"regular_count", upstreams.size()}}}}
      .dump();
}

// The loads are -1 because SGLang no longer has the route from which the router reads them.
std::string LoadsJson(const std::vector<Upstream>& upstreams) {
  Json workers = Json::array();
  for (const Upstream& u : upstreams) workers.push_back({{"worker", u.Listed()}, {"load", -1}});
  return Json{{"workers", workers}}.dump();
}

std::string ModelsJson(const std::vector<Upstream>& upstreams) {
  std::vector<std::string> names;
  for (const Upstream& u : upstreams) {
    if (std::ranges::count(names, u.model) == 0) names.push_back(u.model);
  }
  Json list = Json::array();
  for (const std::string& name : names) {
    list.push_back({{"id", name}, {"object", "model"}, {"owned_by", "local"}});
  }
  return Json{{"object", "list"}, {"data", list}}.dump();
}

}  // namespace tacho::simulate
