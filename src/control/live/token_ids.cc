#include "control/live/token_ids.h"

#include <nlohmann/json.hpp>

#include "base/parse_json.h"
#include "control/version.h"
#include "net/url.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

std::string_view RuleName(RouterKind router) {
  return router == RouterKind::kVllmRouter     ? "vllm-router"
         : router == RouterKind::kSglangRouter ? "sglang-router"
         : router == RouterKind::kSmg          ? "smg"
                                               : "";
}

}  // namespace

bool NeedsTokenIds(RouterKind router, EngineKind engine, std::string_view engine_version) {
  return EngineRule(RuleName(router), "", "continuous_usage") == "dropped" &&
         EngineRule(engine, engine_version, "return_token_ids") == "yes";
}

bool AskWhetherTokenIds(HttpClient& client, const std::string& url,
                        std::chrono::milliseconds patience, std::stop_token stop) {
  const auto deployment = Discover(client, {url}, stop, patience);
  // Behind SGLang's router there may be a vLLM, but that router has no route that reports the
  // engine's version.
  if (!deployment || deployment->router_kind != RouterKind::kVllmRouter) return false;
  HttpRequest request;
  request.url = ParseUrl(url)->With("/version");
  request.connect_timeout = request.timeout = patience;
  const auto answer = client.Fetch(request, std::move(stop));
  if (!answer || answer->status != 200) return false;
  const Json json = ParseJson(answer->body);
  if (!json.is_object() || !json.contains("version") || !json["version"].is_string()) return false;
  return NeedsTokenIds(deployment->router_kind, EngineKind::kVllm,
                       json["version"].get<std::string>());
}

}  // namespace tacho
