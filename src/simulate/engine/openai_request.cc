#include "simulate/engine/openai_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/parse_json.h"
#include "simulate/engine/prompt.h"

namespace tacho::simulate {
namespace {

using Json = nlohmann::json;

std::optional<int64_t> Whole(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}
bool Flag(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

// Reads a prompt: "text", [ids], ["text", ...] or [[ids], ...].
bool ReadPrompts(const Json& prompt, int64_t vocabulary, OpenAiRequest& out) {
  const auto add = [&](const Json& one) {
    if (one.is_string()) {
      out.prompts.push_back(Tokenize(one.get_ref<const std::string&>(), vocabulary));
      return true;
    }
    if (!one.is_array()) return false;
    std::vector<int64_t> ids;
    for (const Json& id : one) {
      if (!id.is_number_integer()) return false;
      ids.push_back(id.get<int64_t>());
      if (ids.back() < 0 || ids.back() >= vocabulary) out.unknown_token = ids.back();
    }
    out.prompts.push_back(std::move(ids));
    return true;
  };
  if (prompt.is_string()) return add(prompt);
  if (!prompt.is_array()) return false;
  const bool many = !prompt.empty() && (prompt[0].is_array() || prompt[0].is_string());
  if (!many) return add(prompt);
  return std::ranges::all_of(prompt, add);
}

std::string Text(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string ChatText(const Json& messages) {
  std::string text;
  for (const Json& message : messages) {
    text += "<|im_start|>" + Text(message, "role") + "\n";
    const auto content = message.find("content");
    if (content != message.end() && content->is_string()) {
      text += content->get_ref<const std::string&>();
    } else if (content != message.end() && content->is_array()) {
      for (const Json& part : *content) {
        if (part.is_object()) text += Text(part, "text");
      }
    }
    text += "<|im_end|>\n";
  }
  return text + "<|im_start|>assistant\n";
}

std::optional<ApiError> ReadPromptOf(const Json& json, const OpenAiLimits& limits,
                                     OpenAiRequest& out) {
  const char* key = out.chat ? "messages" : "prompt";
  const auto found = json.find(key);
  const bool well_formed =
      found != json.end() &&
      (out.chat ? found->is_array() &&
                      std::ranges::all_of(*found, [](const Json& m) { return m.is_object(); })
                : ReadPrompts(*found, limits.vocabulary, out));
  if (!well_formed) return MissingField(limits.engine, key);
  if (out.chat) out.prompts.push_back(Tokenize(ChatText(*found), limits.vocabulary));
  const bool none = std::ranges::any_of(out.prompts, [](const auto& p) { return p.empty(); });
  if (none || out.prompts.empty()) return ApiError{400, "You must pass at least one prompt"};
  return std::nullopt;
}

std::optional<ApiError> ReadLengths(const Json& json, const OpenAiLimits& limits,
                                    OpenAiRequest& out) {
  auto asked = Whole(json, "max_tokens");
  if (const auto newer = Whole(json, "max_completion_tokens"); out.chat && newer) asked = newer;
  if (asked && *asked < 1) {
    return ApiError{400,
                    fmt::format("max_tokens must be at least 1, got {0}. (parameter=max_tokens, "
                                "value={0})",
                                *asked),
                    "BadRequestError", "max_tokens"};
  }
  out.max_tokens = asked.value_or(out.chat ? 0 : 16);
  for (const auto& prompt : out.prompts) {
    const auto length = static_cast<int64_t>(prompt.size());
    const int64_t wanted = std::max<int64_t>(1, out.max_tokens);
    if (length + wanted > limits.max_length) {
      return TooManyTokens(limits.engine, length, wanted, limits.max_length);
    }
  }
  return std::nullopt;
}

}  // namespace

std::variant<OpenAiRequest, ApiError> ReadOpenAiRequest(std::string_view body, bool chat,
                                                        const OpenAiLimits& limits) {
  const Json json = ParseJson(body);
  if (!json.is_object()) return NoJson(limits.engine, body);
  OpenAiRequest out;
  out.chat = chat;
  const auto model = json.find("model");
  if (model != json.end() && model->is_string()) out.model = model->get<std::string>();
  if (!limits.model.empty() && !out.model.empty() && out.model != limits.model) {
    return ApiError{
        404,
        fmt::format("The model `{}` does not exist. Valid aliases: {}.", out.model, limits.model),
        "NotFoundError", "model"};
  }
  if (out.model.empty()) out.model = limits.model;
  if (const auto error = ReadPromptOf(json, limits, out)) return *error;
  if (const auto error = ReadLengths(json, limits, out)) return *error;
  out.ignore_eos = Flag(json, "ignore_eos");
  out.copies = std::clamp<int64_t>(Whole(json, "n").value_or(1), 1, 128);
  out.stream = Flag(json, "stream");
  out.return_token_ids = Flag(json, "return_token_ids");
  out.stream_interval = std::max<int64_t>(0, Whole(json, "stream_interval").value_or(0));
  out.data_parallel_rank =
      Whole(json, "routed_dp_rank").value_or(Whole(json, "data_parallel_rank").value_or(-1));
  const auto stream_options = json.find("stream_options");
  if (out.stream && stream_options != json.end() && stream_options->is_object()) {
    out.include_usage = Flag(*stream_options, "include_usage");
    out.continuous_usage = out.include_usage && Flag(*stream_options, "continuous_usage_stats");
  }
  return out;
}

}  // namespace tacho::simulate
