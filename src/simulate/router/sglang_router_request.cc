#include "simulate/router/sglang_router_request.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/parse_json.h"
#include "simulate/api_error.h"

namespace tacho::simulate {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Keeps only the fields that the router's request types have.
void DropUnknown(const std::string& path, OrderedJson& json) {
  const auto drop = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) json.erase(key);
  };
  if (path == "/generate") {
    drop({"routed_dp_rank", "custom_params"});
    return;
  }
  if (json.contains("stream_options") && json["stream_options"].is_object()) {
    json["stream_options"].erase("continuous_usage_stats");
  }
  if (path != "/v1/chat/completions") return;
  drop({"rid", "priority", "routed_dp_rank", "data_parallel_rank", "user", "custom_params",
        "extra_key", "cache_salt"});
  if (json.contains("max_tokens")) {
    json["max_completion_tokens"] = json["max_tokens"];
    json.erase("max_tokens");
  }
}

// The column in which the list under `key` ends; 0 if the key is not in the text.
size_t EndOfList(const std::string& text, const std::string& key) {
  const size_t at = text.find("\"" + key + "\"");
  const size_t open = at == std::string::npos ? at : text.find('[', at);
  const size_t close = open == std::string::npos ? open : text.find(']', open);
  return close == std::string::npos ? 0 : close + 1;
}

}  // namespace

RoutedRequest ReadRoutedRequest(const std::string& path, const std::string& body) {
  auto json = ParseOrderedJson(body);
  if (json.is_discarded()) {
    return {400, "Failed to parse the request body as JSON: " + SerdeError(body)};
  }
  if (!json.is_object()) return {0, body};
  const auto prompt = json.find("prompt");
  const bool has_ids =
      prompt != json.end() && prompt->is_array() && !prompt->empty() && !(*prompt)[0].is_string();
  if (path == "/v1/completions" && has_ids) {
    return {422, fmt::format("Failed to deserialize the JSON body into the target type: prompt: "
                             "data did not match any variant of untagged enum StringOrArray at "
                             "line 1 column {}",
                             EndOfList(body, "prompt"))};
  }
  DropUnknown(path, json);
  return {0, json.dump()};
}

}  // namespace tacho::simulate
