#include "load/request_body.h"

#include <fmt/format.h>

#include "base/json_text.h"
#include "load/prompt.h"

namespace tacho {
namespace {

// `extra`, a JSON object, without its braces and with a comma in front.
std::string ExtraFields(std::string_view extra) {
  const size_t open = extra.find('{'), close = extra.rfind('}');
  if (open == std::string_view::npos || close == std::string_view::npos) return "";
  const std::string_view inside = extra.substr(open + 1, close - open - 1);
  if (inside.find_first_not_of(" \t\r\n") == std::string_view::npos) return "";
  return "," + std::string(inside);
}

std::string QuotedPrompt(const PlannedRequest& request, uint64_t salt) {
  if (!request.text.empty()) return QuoteJson(request.text);
  std::string words;
  AppendWords(request, salt, words);
  return QuoteJson(words);
}

void AppendIdsOrText(const DriveTarget& target, const PlannedRequest& request, uint64_t salt,
                     std::string_view ids_key, std::string_view text_key, std::string& body) {
  if (!request.text.empty()) {
    body += fmt::format("\"{}\":{}", text_key, QuoteJson(request.text));
    return;
  }
  body += fmt::format("\"{}\":", ids_key);
  AppendTokenIds(request, salt, target.token_ids, body);
}

void AppendOpenAiTail(const DriveTarget& target, const PlannedRequest& request, std::string& body) {
  body += fmt::format(",\"max_tokens\":{}", request.output_tokens);
  if (target.ignore_eos) {
    body += fmt::format(",\"min_tokens\":{},\"ignore_eos\":true", request.output_tokens);
  }
  if (target.stream) {
    body +=
        ",\"stream\":true,\"stream_options\":{\"include_usage\":true,"
        "\"continuous_usage_stats\":true}";
  }
}

}  // namespace

Result<std::string> RouteOf(const DriveTarget& target) {
  const std::string_view api = target.api;
  const char* route = api == "completions" ? "/v1/completions"
                      : api == "chat"      ? "/v1/chat/completions"
                      : api == "generate"  ? "/generate"
                                           : nullptr;
  if (route == nullptr) {
    return Fail(ErrorKind::kUsage,
                fmt::format("no API '{}' (there are completions, chat, generate)", api));
  }
  return target.route.empty() ? route : target.route;
}

std::string BodyOf(const DriveTarget& target, const PlannedRequest& request, uint64_t salt,
                   std::string_view id) {
  std::string body;
  body.reserve(256 + static_cast<size_t>(request.prompt_tokens) * 6 + request.text.size());
  if (target.api == "generate") {
    body += fmt::format("{{\"rid\":{},", QuoteJson(id));
    AppendIdsOrText(target, request, salt, "input_ids", "text", body);
    body += fmt::format(",\"sampling_params\":{{\"max_new_tokens\":{}", request.output_tokens);
    if (target.ignore_eos) {
      body += fmt::format(",\"min_new_tokens\":{},\"ignore_eos\":true", request.output_tokens);
    }
    body += ExtraFields(target.sampling);
    body += target.stream ? "},\"stream\":true" : "}";
  } else {
    body += fmt::format("{{\"model\":{},", QuoteJson(target.model));
    if (target.api == "chat") {
      body += request.text_is_messages
                  ? "\"messages\":" + request.text
                  : fmt::format("\"messages\":[{{\"role\":\"user\",\"content\":{}}}]",
                                QuotedPrompt(request, salt));
    } else {
      AppendIdsOrText(target, request, salt, "prompt", "prompt", body);
    }
    AppendOpenAiTail(target, request, body);
    body += ExtraFields(target.sampling);
  }
  body += ExtraFields(target.extra_body);
  body += '}';
  return body;
}

}  // namespace tacho
