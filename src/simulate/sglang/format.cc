#include "simulate/sglang/format.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "base/json_text.h"

namespace tacho::simulate {
namespace {

std::string WeightVersions(size_t tokens) {
  return fmt::format(R"("weight_versions":[{{"version":"default","start":0,"end":{}}}])", tokens);
}

class SglangFormat : public AnswerFormat {
 public:
  SglangFormat(const OpenAiRequest& request, const SglangAnswerFacts& facts)
      : chat_(request.chat),
        include_usage_(request.include_usage),
        continuous_usage_(request.continuous_usage) {
    const auto head = [&](std::string_view object) {
      return fmt::format(R"({{"id":{},"object":"{}","created":{},"model":{})", QuoteJson(facts.id),
                         object, static_cast<int64_t>(facts.received_unix_s),
                         QuoteJson(request.model));
    };
    whole_head_ = head(chat_ ? "chat.completion" : "text_completion");
    head_ = chat_ ? head("chat.completion.chunk") : whole_head_;
  }

  std::string Opening(const AnswerPart& part) override {
    if (!chat_) return "";
    return head_ +
           fmt::format(
               R"(,"choices":[{{"index":{},"delta":{{"role":"assistant","content":"","reasoning_content":null}},"logprobs":null,"finish_reason":null,"matched_stop":null}}]}})",
               part.index);
  }

  std::string Event(const AnswerPart& part) override {
    const bool ends = !part.finish.empty();
    const std::string finish = ends ? fmt::format("\"{}\"", part.finish) : "null";
    if (!chat_) {
      return fmt::format(
          R"({},"choices":[{{"index":{},"text":{},"logprobs":null,"finish_reason":{},"matched_stop":null}}],"usage":{}}})",
          head_, part.index, QuoteJson(part.text), finish,
          continuous_usage_ ? Usage({part}) : "null");
    }
    // A chat's last event has no content, so the text gets an event before it.
    std::string event = ContentEvent(part);
    if (!ends) return event;
    return event + "\n\ndata: " +
           fmt::format(
               R"({},"choices":[{{"index":{},"delta":{{"reasoning_content":null}},"logprobs":null,"finish_reason":{},"matched_stop":null}}]}})",
               head_, part.index, finish);
  }

  std::string Closing(const std::vector<AnswerPart>& parts) override {
    if (!include_usage_) return "";
    if (chat_) return head_ + R"(,"choices":[],"usage":)" + Usage(parts) + "}";
    const auto [prompt, made] = TokensOf(parts);
    return fmt::format(
        R"({},"choices":[],"usage":{{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{},"reasoning_tokens":0}}}})",
        head_, prompt, prompt + made, made);
  }

  std::string Whole(const std::vector<AnswerPart>& parts) override {
    std::string choices;
    for (const AnswerPart& part : parts) {
      const std::string text =
          chat_ ? fmt::format(
                      R"("message":{{"role":"assistant","content":{},"reasoning_content":null}})",
                      QuoteJson(part.whole_text))
                : "\"text\":" + QuoteJson(part.whole_text);
      choices += fmt::format(
          R"({}{{"index":{},{},"logprobs":null,"finish_reason":"{}","matched_stop":null}})",
          choices.empty() ? "" : ",", part.index, text, part.finish);
    }
    return fmt::format(
        R"({},"choices":[{}],"usage":{},"metadata":{{"weight_version":"default",{}}}}})",
        whole_head_, choices, Usage(parts), WeightVersions(parts[0].whole_ids.size()));
  }

  std::string StreamError(const ApiError& error) override {
    return fmt::format(
        R"({{"error":{{"object":"error","message":{},"type":{},"param":null,"code":{}}}}})",
        QuoteJson(error.message), QuoteJson(error.type), error.status);
  }

 private:
  std::string ContentEvent(const AnswerPart& part) const {
    std::string event =
        head_ +
        fmt::format(
            R"(,"choices":[{{"index":{},"delta":{{"content":{},"reasoning_content":null}},"logprobs":null,"finish_reason":null,"matched_stop":null}}])",
            part.index, QuoteJson(part.text));
    if (continuous_usage_) event += ",\"usage\":" + Usage({part});
    return event + "}";
  }
  static std::pair<size_t, size_t> TokensOf(const std::vector<AnswerPart>& parts) {
    size_t prompt = 0, made = 0;
    for (const AnswerPart& part : parts) {
      prompt += part.prompt->size();
      made += part.whole_ids.size();
    }
    return {prompt, made};
  }
  static std::string Usage(const std::vector<AnswerPart>& parts) {
    const auto [prompt, made] = TokensOf(parts);
    return fmt::format(
        R"({{"prompt_tokens":{},"total_tokens":{},"completion_tokens":{},"prompt_tokens_details":null,"reasoning_tokens":0,"completion_tokens_details":null}})",
        prompt, prompt + made, made);
  }

  bool chat_, include_usage_, continuous_usage_;
  std::string head_, whole_head_;
};

class GenerateFormat : public AnswerFormat {
 public:
  GenerateFormat(SglangAnswerFacts facts, bool many) : facts_(std::move(facts)), many_(many) {}

  std::string Opening(const AnswerPart&) override { return ""; }
  std::string Event(const AnswerPart& part) override { return One(part, true); }
  std::string Closing(const std::vector<AnswerPart>&) override { return ""; }
  std::string Whole(const std::vector<AnswerPart>& parts) override {
    if (!many_) return One(parts[0], false);
    std::string all;
    for (const AnswerPart& part : parts) all += (all.empty() ? "" : ",") + One(part, false);
    return "[" + all + "]";
  }
  std::string StreamError(const ApiError& error) override {
    return fmt::format(
        R"({{"error":{{"message":{},"type":"invalid_request_error","code":{},"retryable":false}}}})",
        QuoteJson(error.message), error.status);
  }

 private:
  std::string One(const AnswerPart& part, bool stream) const {
    return fmt::format(R"({{"text":{},"output_ids":[{}],"meta_info":{{{}}}{}}})",
                       QuoteJson(part.whole_text), fmt::join(part.whole_ids, ","),
                       MetaInfo(part, stream),
                       stream && many_ ? fmt::format(",\"index\":{}", part.index) : "");
  }

  std::string MetaInfo(const AnswerPart& part, bool stream) const {
    const bool ends = !part.finish.empty();
    const double received = facts_.received_unix_s;
    const double queued = 0.0004;
    std::string info = fmt::format(
        R"("id":{},"finish_reason":{},"prompt_tokens":{},"weight_version":"default","num_retractions":0,"queue_time":{:.6f},"forward_entry_time":{:.6f},"prefill_finished_time":{:.6f},"storage_prefetch_wait":0.0,"storage_staging_wait":0.0,"reasoning_tokens":0,"completion_tokens":{},"cached_tokens":{},"cached_tokens_details":null,"dp_rank":{})",
        QuoteJson(many_ ? fmt::format("{}_{}", facts_.id, part.index) : facts_.id),
        !ends ? "null"
        : part.finish == "stop"
            ? R"({"type":"stop","matched":2})"
            : fmt::format(R"({{"type":"length","length":{}}})", part.whole_ids.size()),
        part.prompt->size(), queued, received + queued, received + part.first_token_seconds,
        part.whole_ids.size(), part.cached_tokens,
        facts_.dp_rank ? std::to_string(*facts_.dp_rank) : "null");
    if (!stream || !part.first) {
      info += fmt::format(R"(,"response_sent_to_client_ts":{:.6f})", received + part.seconds);
    }
    if (!ends) return info;
    const double decoding = part.seconds - part.first_token_seconds;
    const auto made = static_cast<double>(part.whole_ids.size());
    info += fmt::format(
        R"(,"e2e_latency":{:.6f},"first_token_latency":{:.6f},"decode_throughput":{:.6f},"request_received_ts":{:.6f},"request_finished_ts":{:.6f},"api_server_dispatch_finish_ts":{:.6f},{})",
        part.seconds, part.first_token_seconds, decoding > 0 ? (made - 1) / decoding : 0.0,
        received, received + part.seconds, received + queued / 2,
        WeightVersions(part.whole_ids.size()));
    return info;
  }

  SglangAnswerFacts facts_;
  bool many_;
};

}  // namespace

std::unique_ptr<AnswerFormat> MakeSglangFormat(const OpenAiRequest& request,
                                               const SglangAnswerFacts& facts) {
  return std::make_unique<SglangFormat>(request, facts);
}
std::unique_ptr<AnswerFormat> MakeGenerateFormat(const SglangAnswerFacts& facts, bool many) {
  return std::make_unique<GenerateFormat>(facts, many);
}

}  // namespace tacho::simulate
