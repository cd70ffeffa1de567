#include "simulate/vllm_format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_text.h"

namespace tacho::simulate {
namespace {

std::string Ids(const std::vector<int64_t>& ids) {
  return fmt::format("[{}]", fmt::join(ids, ","));
}

std::string UsageOf(const std::vector<AnswerPart>& parts, bool whole) {
  size_t prompt = 0, made = 0;
  for (const AnswerPart& part : parts) {
    prompt += part.prompt->size();
    made += part.whole_ids.size();
  }
  return fmt::format(R"({{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}{}}})", prompt,
                     prompt + made, made, whole ? ",\"prompt_tokens_details\":null" : "");
}

class VllmFormat : public AnswerFormat {
 public:
  VllmFormat(const OpenAiRequest& request, std::string id, int64_t created_s,
             std::string fingerprint)
      : chat_(request.chat),
        include_usage_(request.include_usage),
        continuous_usage_(request.continuous_usage),
        ids_(request.return_token_ids),
        fingerprint_(std::move(fingerprint)) {
    head_ = fmt::format(R"({{"id":{},"object":"{}","created":{},"model":{})", QuoteJson(id),
                        chat_ ? "chat.completion.chunk" : "text_completion", created_s,
                        QuoteJson(request.model));
    whole_head_ = fmt::format(R"({{"id":{},"object":"{}","created":{},"model":{})", QuoteJson(id),
                              chat_ ? "chat.completion" : "text_completion", created_s,
                              QuoteJson(request.model));
  }

  std::string Opening(const AnswerPart& part) override {
    if (!chat_) return "";
    std::string event =
        head_ +
        fmt::format(
            R"(,"choices":[{{"index":{},"delta":{{"role":"assistant","content":""}},"logprobs":null,"finish_reason":null,"token_ids":null}}])",
            part.index);
    if (ids_) event += ",\"prompt_token_ids\":" + Ids(*part.prompt);
    if (continuous_usage_) {
      event += fmt::format(
          R"(,"usage":{{"prompt_tokens":{0},"total_tokens":{0},"completion_tokens":0}})",
          part.prompt->size());
    }
    return event + "}";
  }

  std::string Event(const AnswerPart& part) override {
    const std::string finish = part.finish.empty() ? "null" : fmt::format("\"{}\"", part.finish);
    const std::string ids = ids_ ? Ids(part.ids) : "null";
    std::string event = head_;
    if (chat_) {
      event += fmt::format(
          R"(,"choices":[{{"index":{},"delta":{{"content":{}}},"logprobs":null,"finish_reason":{},"stop_reason":null,"token_ids":{}}}])",
          part.index, QuoteJson(part.text), finish, ids);
    } else {
      event += fmt::format(
          R"(,"choices":[{{"index":{},"text":{},"logprobs":null,"finish_reason":{},"stop_reason":null,"prompt_token_ids":{},"token_ids":{}}}])",
          part.index, QuoteJson(part.text), finish, ids_ && part.first ? Ids(*part.prompt) : "null",
          ids);
    }
    if (!part.finish.empty()) event += ",\"system_fingerprint\":" + QuoteJson(fingerprint_);
    if (continuous_usage_) event += ",\"usage\":" + UsageOf({part}, false);
    return event + "}";
  }

  std::string Closing(const std::vector<AnswerPart>& parts) override {
    if (!include_usage_) return "";
    return head_ + R"(,"choices":[],"usage":)" + UsageOf(parts, false) + "}";
  }

  std::string Whole(const std::vector<AnswerPart>& parts) override {
    std::string choices;
    for (const AnswerPart& part : parts) {
      if (!choices.empty()) choices += ",";
      const std::string text =
          chat_
              ? fmt::format(
                    R"("message":{{"role":"assistant","content":{},"refusal":null,"tool_calls":[],"reasoning_content":null}})",
                    QuoteJson(part.whole_text))
              : "\"text\":" + QuoteJson(part.whole_text);
      choices += fmt::format(
          R"({{"index":{},{},"logprobs":null,"finish_reason":"{}","stop_reason":null,"token_ids":{},"prompt_token_ids":{}}})",
          part.index, text, part.finish, ids_ ? Ids(part.whole_ids) : "null",
          ids_ ? Ids(*part.prompt) : "null");
    }
    return whole_head_ +
           fmt::format(
               R"(,"choices":[{}],"service_tier":null,"system_fingerprint":{},"usage":{},"kv_transfer_params":null}})",
               choices, QuoteJson(fingerprint_), UsageOf(parts, true));
  }

  // With a blank behind the colon: this one is made by Python's json, not by pydantic.
  std::string StreamError(const ApiError& error) override {
    return fmt::format(R"({{"error": {{"message": {}, "type": {}, "param": null, "code": {}}}}})",
                       QuoteJson(error.message), QuoteJson(error.type), error.status);
  }

 private:
  bool chat_, include_usage_, continuous_usage_, ids_;
  std::string head_, whole_head_, fingerprint_;
};

}  // namespace

std::unique_ptr<AnswerFormat> MakeVllmFormat(const OpenAiRequest& request, std::string id,
                                             int64_t created_s, std::string fingerprint) {
  return std::make_unique<VllmFormat>(request, std::move(id), created_s, std::move(fingerprint));
}

}  // namespace tacho::simulate
