#include "simulate/vllm/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/json_text.h"

namespace tacho::simulate {
namespace {

std::string Ids(const std::vector<int64_t>& ids) {
  return fmt::format("[{}]", fmt::join(ids, ","));
}

class VllmFormat : public AnswerFormat {
 public:
  VllmFormat(const OpenAiRequest& request, const std::string& id, int64_t created_s,
             const std::string& fingerprint)
      : chat_(request.chat),
        include_usage_(request.include_usage),
        continuous_usage_(request.continuous_usage),
        ids_(request.return_token_ids),
        fingerprint_("\"system_fingerprint\":" + QuoteJson(fingerprint)) {
    const std::string_view kind = chat_ ? "chat.completion" : "text_completion";
    const auto head = [&](std::string_view object) {
      return fmt::format(R"({{"id":{},"object":"{}","created":{},"model":{})", QuoteJson(id),
                         object, created_s, QuoteJson(request.model));
    };
    whole_head_ = head(kind);
    head_ = chat_ ? head("chat.completion.chunk") : whole_head_;
  }

  std::string Opening(const AnswerPart& part) override {
    if (!chat_) return "";
    std::string event =
        head_ +
        fmt::format(
            R"(,"choices":[{{"index":{},"delta":{{"role":"assistant","content":""}},"logprobs":null,"finish_reason":null}}],"prompt_token_ids":{},"prompt_text":null)",
            part.index, ids_ ? Ids(*part.prompt) : "null");
    if (continuous_usage_) event += ",\"usage\":" + Usage(part.prompt->size(), 0);
    return event + "}";
  }

  std::string Event(const AnswerPart& part) override {
    const bool ends = !part.finish.empty();
    const std::string finish = ends ? fmt::format("\"{}\"", part.finish) : "null";
    const std::string ids = ids_ ? Ids(part.ids) : "null";
    std::string event = head_;
    if (chat_) {
      event += fmt::format(
          R"(,"choices":[{{"index":{},"delta":{{"content":{}}},"logprobs":null,"finish_reason":{}{},"token_ids":{}}}])",
          part.index, QuoteJson(part.text), finish, ends ? ",\"stop_reason\":null" : "", ids);
    } else {
      event += fmt::format(
          R"(,"choices":[{{"index":{},"text":{},"logprobs":null,"finish_reason":{},"stop_reason":null,"prompt_token_ids":{},"token_ids":{}}}])",
          part.index, QuoteJson(part.text), finish, ids_ && part.first ? Ids(*part.prompt) : "null",
          ids);
    }
    // The fingerprint is in the last event, which is the usage event if there is one.
    if (ends && !include_usage_) event += "," + fingerprint_;
    if (continuous_usage_) {
      event += ",\"usage\":" + Usage(part.prompt->size(), part.whole_ids.size());
    }
    return event + "}";
  }

  std::string Closing(const std::vector<AnswerPart>& parts) override {
    if (!include_usage_) return "";
    const auto [prompt, made] = TokensOf(parts);
    return fmt::format(
        R"({},"choices":[],{},"usage":{{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}}}}})",
        head_, fingerprint_, prompt, prompt + made, made);
  }

  std::string Whole(const std::vector<AnswerPart>& parts) override {
    std::string choices;
    for (const AnswerPart& part : parts) {
      if (!choices.empty()) choices += ",";
      choices += chat_ ? ChatChoice(part) : TextChoice(part);
    }
    const auto [prompt, made] = TokensOf(parts);
    return fmt::format(
        R"({},"choices":[{}],"service_tier":null,{},"usage":{{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{},"prompt_tokens_details":null,"completion_tokens_details":null}},{}"kv_transfer_params":null,"ec_transfer_params":null,"metrics":null}})",
        whole_head_, choices, fingerprint_, prompt, prompt + made, made,
        chat_ ? fmt::format(R"("prompt_logprobs":null,"prompt_token_ids":{},"prompt_text":null,)",
                            ids_ ? Ids(*parts[0].prompt) : "null")
              : "");
  }

  // There is a blank after each colon, because vLLM writes this text with Python's json, not
  // pydantic.
  std::string StreamError(const ApiError& error) override {
    return fmt::format(R"({{"error": {{"message": {}, "type": {}, "param": null, "code": {}}}}})",
                       QuoteJson(error.message), QuoteJson(error.type), error.status);
  }

 private:
  std::string TextChoice(const AnswerPart& part) const {
    return fmt::format(
        R"({{"index":{},"text":{},"logprobs":null,"finish_reason":"{}","stop_reason":null,"token_ids":{},"prompt_logprobs":null,"prompt_token_ids":{},"routed_experts":null}})",
        part.index, QuoteJson(part.whole_text), part.finish, ids_ ? Ids(part.whole_ids) : "null",
        ids_ ? Ids(*part.prompt) : "null");
  }
  std::string ChatChoice(const AnswerPart& part) const {
    return fmt::format(
        R"({{"index":{},"message":{{"role":"assistant","content":{},"refusal":null,"annotations":null,"audio":null,"function_call":null,"reasoning":null}},"logprobs":null,"finish_reason":"{}","stop_reason":null,"token_ids":{},"routed_experts":null}})",
        part.index, QuoteJson(part.whole_text), part.finish, ids_ ? Ids(part.whole_ids) : "null");
  }
  static std::pair<size_t, size_t> TokensOf(const std::vector<AnswerPart>& parts) {
    size_t prompt = 0, made = 0;
    for (const AnswerPart& part : parts) {
      prompt += part.prompt->size();
      made += part.whole_ids.size();
    }
    return {prompt, made};
  }
  std::string Usage(size_t prompt, size_t made) const {
    return fmt::format(R"({{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{}{}}})",
                       prompt, prompt + made, made,
                       chat_ ? ",\"completion_tokens_details\":null" : "");
  }

  bool chat_, include_usage_, continuous_usage_, ids_;
  std::string head_, whole_head_, fingerprint_;
};

}  // namespace

std::unique_ptr<AnswerFormat> MakeVllmFormat(const OpenAiRequest& request, const std::string& id,
                                             int64_t created_s, const std::string& fingerprint) {
  return std::make_unique<VllmFormat>(request, id, created_s, fingerprint);
}

}  // namespace tacho::simulate
