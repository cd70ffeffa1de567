#include "simulate/engine/generate_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "simulate/engine/prompt.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

bool IsIds(const Json& json) {
  return json.is_array() &&
         std::ranges::all_of(json, [](const Json& id) { return id.is_number_integer(); });
}

// False if neither "text" nor "input_ids" has a value.
bool ReadPrompts(const Json& json, int64_t vocabulary, GenerateRequest& out) {
  const auto text = json.find("text");
  if (text != json.end() && text->is_string()) {
    out.prompts.push_back(Tokenize(text->get_ref<const std::string&>(), vocabulary));
    return true;
  }
  if (text != json.end() && text->is_array() && !text->empty()) {
    out.many = true;
    for (const Json& one : *text) {
      if (!one.is_string()) return false;
      out.prompts.push_back(Tokenize(one.get_ref<const std::string&>(), vocabulary));
    }
    return true;
  }
  const auto ids = json.find("input_ids");
  if (ids == json.end() || !ids->is_array() || ids->empty()) return false;
  if (IsIds(*ids)) {
    out.prompts.push_back(ids->get<std::vector<int64_t>>());
    return true;
  }
  out.many = true;
  for (const Json& one : *ids) {
    if (!IsIds(one)) return false;
    out.prompts.push_back(one.get<std::vector<int64_t>>());
  }
  return true;
}

void ReadSampling(const Json& sampling, GenerateRequest& out) {
  const auto most = sampling.find("max_new_tokens");
  if (most != sampling.end() && most->is_number_integer()) {
    out.max_new_tokens = most->get<int64_t>();
  }
  const auto ignore = sampling.find("ignore_eos");
  out.ignore_eos = ignore != sampling.end() && ignore->is_boolean() && ignore->get<bool>();
  const auto temperature = sampling.find("temperature");
  if (temperature != sampling.end() && temperature->is_number() && temperature->get<double>() < 0) {
    out.late_error = fmt::format("temperature must be a non-negative finite number, got {}.",
                                 temperature->dump());
  }
  if (out.max_new_tokens < 0) {
    out.late_error = fmt::format("max_new_tokens must be at least 0, got {}.", out.max_new_tokens);
  }
}

}  // namespace

std::variant<GenerateRequest, ApiError> ReadGenerateRequest(std::string_view body,
                                                            int64_t max_length,
                                                            int64_t vocabulary) {
  const Json json = ParseJson(body);
  if (json.is_discarded()) return NoJson(SimulatedEngine::kSglang, body);
  if (!json.is_object()) return MissingField(SimulatedEngine::kSglang, "text");
  GenerateRequest out;
  if (!ReadPrompts(json, vocabulary, out)) {
    return ApiError{400, "Either text, input_ids or input_embeds should be provided.", "", ""};
  }
  out.stream = json.contains("stream") && json["stream"].is_boolean() && json["stream"].get<bool>();
  if (json.contains("rid") && json["rid"].is_string()) out.rid = json["rid"].get<std::string>();
  for (const char* key : {"data_parallel_rank", "routed_dp_rank"}) {
    if (json.contains(key) && json[key].is_number_integer()) {
      out.data_parallel_rank = json[key].get<int64_t>();
    }
  }
  const auto sampling = json.find("sampling_params");
  if (sampling != json.end() && sampling->is_object()) ReadSampling(*sampling, out);
  for (const auto& prompt : out.prompts) {
    const auto length = static_cast<int64_t>(prompt.size());
    if (length == 0) return ApiError{400, "The input is empty.", "", ""};
    if (length + out.max_new_tokens > max_length && out.late_error.empty()) {
      out.late_error =
          TooManyTokens(SimulatedEngine::kSglang, length, out.max_new_tokens, max_length).message;
    }
    for (const int64_t id : prompt) {
      if (id >= 0 && id < vocabulary) continue;
      out.late_error = fmt::format(
          "The input_ids contains a token id {} that is out of the "
          "vocabulary of {} tokens.",
          id, vocabulary);
    }
  }
  return out;
}

std::string GenerateErrorJson(std::string_view message) {
  return "{\"error\":{\"message\":" + QuoteJson(message) + "}}";
}

}  // namespace tacho::simulate
