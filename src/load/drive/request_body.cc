#include "load/drive/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/parse_json.h"
#include "load/plan/prompt_text.h"
#include "net/url.h"

namespace tacho {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Limit for tokens and for choices: their product is doubled.
constexpr int64_t kMostAsked = int64_t{1} << 30;

// Lets the user's fields replace ours with the same name: some servers (sglang-router) reject a
// duplicate name.
void Replace(OrderedJson& fields, std::string_view given) {
  if (!given.empty()) fields.update(OrderedJson::parse(given));
}

std::string QuotedPrompt(const PlannedRequest& request, uint64_t salt) {
  if (!request.text.empty()) return QuoteJson(request.text);
  std::string words;
  AppendWords(request, salt, words);
  return QuoteJson(words);
}

OrderedJson OpenAiFields(const DriveTarget& target, const PlannedRequest& request) {
  const int64_t output_tokens = request.output_tokens;
  OrderedJson fields;
  fields["model"] = request.model.empty() ? target.model : request.model;
  fields["max_tokens"] = output_tokens;
  if (target.ignore_eos) {
    fields["min_tokens"] = output_tokens;
    fields["ignore_eos"] = true;
  }
  if (target.stream) {
    fields["stream"] = true;
    fields["stream_options"] = {{"include_usage", true}, {"continuous_usage_stats", true}};
    if (target.return_token_ids) fields["return_token_ids"] = true;
  }
  Replace(fields, target.sampling);
  return fields;
}

OrderedJson GenerateFields(const DriveTarget& target, int64_t output_tokens, std::string_view id) {
  OrderedJson sampling;
  sampling["max_new_tokens"] = output_tokens;
  if (target.ignore_eos) {
    sampling["min_new_tokens"] = output_tokens;
    sampling["ignore_eos"] = true;
  }
  Replace(sampling, target.sampling);
  OrderedJson fields;
  fields["rid"] = id;
  fields["sampling_params"] = std::move(sampling);
  if (target.stream) fields["stream"] = true;
  return fields;
}

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

}  // namespace

Result<std::string> AddressOf(const DriveTarget& target) {
  TACHO_ASSIGN_OR_RETURN(const auto url, ParseUrl(target.url));
  TACHO_ASSIGN_OR_RETURN(const auto route, RouteOf(target));
  for (const std::string* fields : {&target.sampling, &target.extra_body}) {
    if (fields->empty() || IsJsonObject(*fields)) continue;
    return Fail(ErrorKind::kUsage, *fields + " is not a JSON object");
  }
  return url.With(route);
}

std::string BodyOf(const DriveTarget& target, const PlannedRequest& request, uint64_t salt,
                   std::string_view id) {
  const bool own = target.api == "generate", chat = target.api == "chat";
  OrderedJson fields =
      own ? GenerateFields(target, request.output_tokens, id) : OpenAiFields(target, request);
  Replace(fields, target.extra_body);
  std::string body = fields.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
  const bool text = !request.text.empty() || target.token_ids.empty();
  const char* const key = chat ? "messages" : !own ? "prompt" : text ? "text" : "input_ids";
  if (fields.contains(key)) return body;
  // The prompt is appended last and as text, because it may be long.
  body.pop_back();
  body.reserve(body.size() + 64 + static_cast<size_t>(request.prompt_tokens) * 6 +
               request.text.size());
  body += fmt::format(",\"{}\":", key);
  if (chat) {
    body += request.text_is_messages ? request.text
                                     : fmt::format("[{{\"role\":\"user\",\"content\":{}}}]",
                                                   QuotedPrompt(request, salt));
  } else if (text) {
    body += QuotedPrompt(request, salt);
  } else {
    AppendTokenIds(request, salt, target.token_ids, body);
  }
  body += '}';
  return body;
}

int64_t AskedTokens::Of(int64_t planned) const {
  const int64_t each = std::clamp<int64_t>(output.value_or(planned), 0, kMostAsked);
  return each * std::clamp<int64_t>(choices, 1, kMostAsked);
}

AskedTokens AskedBy(const DriveTarget& target) {
  AskedTokens asked;
  const auto take = [&asked](const OrderedJson& fields) {
    for (const char* name : {"max_tokens", "max_completion_tokens", "max_new_tokens"})
      if (const auto found = fields.find(name); found != fields.end())
        asked.output = found->is_number_integer() ? found->get<int64_t>() : 0;
    if (const auto found = fields.find("n"); found != fields.end() && found->is_number_integer())
      asked.choices = found->get<int64_t>();
  };
  for (const std::string* given : {&target.sampling, &target.extra_body}) {
    if (given->empty()) continue;
    const OrderedJson fields = OrderedJson::parse(*given);
    take(fields);
    const auto own = fields.find("sampling_params");
    if (own != fields.end() && own->is_object()) take(*own);
  }
  return asked;
}

bool IsJsonObject(std::string_view text) { return ParseOrderedJson(text).is_object(); }

}  // namespace tacho
