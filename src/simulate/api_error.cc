#include "simulate/api_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"

namespace tacho::simulate {
namespace {

std::string Fields(const ApiError& error) {
  return fmt::format(R"("message":{},"type":{},"param":{},"code":{})", QuoteJson(error.message),
                     QuoteJson(error.type), error.param.empty() ? "null" : QuoteJson(error.param),
                     error.status);
}

// The position, counted from 0, at which the text stops being valid JSON.
size_t ErrorAt(std::string_view text) {
  try {
    [[maybe_unused]] const auto parsed = nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& error) {
    // For an unknown word, Python's json reports where the word starts.
    size_t at = std::min(text.size(), error.byte == 0 ? 0 : error.byte - 1);
    while (at > 0 && std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0) --at;
    return at;
  }
  return 0;
}

}  // namespace

std::string VllmErrorJson(const ApiError& error) { return "{\"error\":{" + Fields(error) + "}}"; }
std::string SglangErrorJson(const ApiError& error) {
  return "{\"object\":\"error\"," + Fields(error) + "}";
}

ApiError NoJson(SimulatedEngine engine, std::string_view body) {
  const size_t at = ErrorAt(body);
  const std::string text = fmt::format(
      "1 validation error:\n  {{'type': 'json_invalid', 'loc': ('body', {}), 'msg': 'JSON decode "
      "error', 'input': {{}}, 'ctx': {{'error': 'Expecting value'}}}}",
      at);
  return {400, text, "Bad Request",
          engine == SimulatedEngine::kVllm ? fmt::format("body.{}", at) : ""};
}

ApiError MissingField(SimulatedEngine engine, std::string_view field) {
  return {400,
          fmt::format("1 validation error:\n  {{'type': 'missing', 'loc': ('body', '{}'), 'msg': "
                      "'Field required'}}",
                      field),
          "Bad Request", engine == SimulatedEngine::kVllm ? fmt::format("body.{}", field) : ""};
}

ApiError TooManyTokens(SimulatedEngine engine, int64_t prompt, int64_t asked, int64_t most) {
  if (engine == SimulatedEngine::kSglang) {
    return {400,
            fmt::format("Requested token count exceeds the model's maximum context length of {} "
                        "tokens. You requested a total of {} tokens: {} tokens from the input "
                        "messages and {} tokens for the completion. Please reduce the number of "
                        "tokens in the input messages or the completion to fit within the limit.",
                        most, prompt + asked, prompt, asked)};
  }
  if (asked > most) {
    return {400,
            fmt::format("max_tokens={} cannot be greater than max_model_len={}. Please request "
                        "fewer output tokens. (parameter=max_tokens, value={})",
                        asked, most, asked),
            "BadRequestError", "max_tokens"};
  }
  return {400, fmt::format("This model's maximum context length is {} tokens. However, you "
                           "requested {} output tokens and your prompt contains {} input tokens, "
                           "for a total of {} tokens. Please reduce the length of the input "
                           "prompt or the number of requested output tokens. "
                           "(parameter=input_tokens, value={})",
                           most, asked, prompt, prompt + asked, prompt)};
}

std::string WhyRefused(bool start, int status, std::string_view body) {
  if (status == 0) return "the worker does not answer";
  if (status == 500)
    return start ? "Profiling is already in progress. Call /stop_profile first."
                 : "Profiling is not in progress. Call /start_profile first.";
  const nlohmann::json json = ParseJson(body);
  for (const char* pointer : {"/error/message", "/message", "/detail"})
    if (const nlohmann::json::json_pointer at(pointer);
        json.is_object() && json.contains(at) && json[at].is_string())
      return json[at].get<std::string>();
  return std::string(body);
}

std::string SerdeError(std::string_view body) {
  const size_t at = ErrorAt(body);
  if (at < body.size()) return fmt::format("expected value at line 1 column {}", at + 1);
  // The message begins with the key whose value is missing.
  const size_t close = body.find_last_of('"');
  const size_t open = close == std::string_view::npos || close == 0
                          ? std::string_view::npos
                          : body.find_last_of('"', close - 1);
  const std::string key = open == std::string_view::npos
                              ? ""
                              : std::string(body.substr(open + 1, close - open - 1)) + ": ";
  return fmt::format("{}EOF while parsing a value at line 1 column {}", key, body.size());
}

}  // namespace tacho::simulate
