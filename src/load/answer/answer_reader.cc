#include "load/answer/answer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/prefetch.h"

namespace tacho {
namespace {

constexpr size_t kMostErrorBody = 64 * 1024;
constexpr size_t kMostWords = 300;  // how many bytes of a server's message are shown
constexpr int64_t kMostChoices = 4096, kMostReserved = 16'384;

}  // namespace

// Hides keys before it cuts the text, because half a key would be a leak too.
std::string AnswerReader::Shorten(std::string_view text) const {
  std::string shown = hide_(std::string(text.substr(0, kMostErrorBody)));
  if (shown.size() > kMostWords) shown.replace(kMostWords, std::string::npos, "...");
  return shown;
}

void AnswerReader::OnHead(int status, int64_t at_ns) {
  record_.http_status = status;
  record_.first_byte_ns = at_ns;
}

void AnswerReader::OnBody(std::string_view bytes, int64_t at_ns) {
  last_body_ns_ = at_ns;
  // The memory for the next values was last used a token ago and may have left the cache.
  Prefetch(record_.chunk_ns.data() + record_.chunk_ns.size(), sizeof(int64_t));
  Prefetch(record_.chunk_tokens.data() + record_.chunk_tokens.size(), sizeof(uint32_t));
  if (record_.http_status != 200 || !streams_) {
    const bool good = record_.http_status == 200;
    const size_t most = good ? kMostKept : kMostErrorBody;
    if (good && bytes.size() > most - body_.size()) TooLong("an answer longer than 64 MiB");
    body_.append(bytes.substr(0, most - std::min(most, body_.size())));
    return;
  }
  const bool fits =
      sse_.Feed(bytes, [this, at_ns](std::string_view data) { TakeEvent(data, at_ns); });
  if (!fits) TooLong("an event longer than 16 MiB");
  if (events_ == 0 && body_.size() < kMostWords) body_.append(bytes.substr(0, kMostWords));
}

void AnswerReader::TakeEvent(std::string_view data, int64_t at_ns) {
  ++events_;
  if (data == "[DONE]") {
    done_seen_ = true;
    return;
  }
  const StreamChunk* const chunk = parser_.Parse(data);
  if (chunk == nullptr) {
    return Complain(fmt::format("event {} is not JSON: {}", events_, Shorten(data)));
  }
  TakeChunk(*chunk, at_ns);
}

void AnswerReader::TakeChunk(const StreamChunk& chunk, int64_t at_ns) {
  if (record_.server_id.empty() && !chunk.id.empty()) record_.server_id = Shorten(chunk.id);
  if (chunk.has_error) Complain("error inside the answer: " + Shorten(chunk.error));
  if (chunk.bad_usage && !contradicts_) {
    contradicts_ = true;
    if (record_.error.empty()) record_.error = "invalid usage: not a token count";
  }
  if (chunk.prompt_tokens >= 0) record_.prompt_tokens = chunk.prompt_tokens;
  if (chunk.cached_tokens >= 0) record_.cached_tokens = chunk.cached_tokens;
  if (chunk.choices.empty()) {
    if (chunk.completion_tokens >= 0) told_total_ = chunk.completion_tokens;
    return;
  }
  if (record_.first_choice_ns == 0) record_.first_choice_ns = at_ns;
  const bool unsure = at_ns == record_.last_choice_ns && at_ns <= late_until_ns_;
  record_.last_choice_ns = at_ns;
  const bool told_together = !streams_ && chunk.completion_tokens >= 0;
  int64_t tokens = told_together ? chunk.completion_tokens : 0;
  if (told_together) record_.counted_by = TokenCounts::kUsage;
  for (const ChunkChoice& choice : chunk.choices) {
    if (!choice.finish_reason.empty()) {
      finished_ = true;
      record_.finish_reason = Shorten(choice.finish_reason);
    }
    if (keep_text_ && choice.index == 0) TakeText(choice);
    if (told_together) continue;
    const bool opens = choice.role_only && record_.output_tokens == 0;
    if (!opens || !choice.finish_reason.empty()) tokens += TokensOf(chunk, choice);
  }
  if (tokens <= 0) return;
  record_.output_tokens += tokens;
  if (!streams_) return;  // tokens of an answer that is not a stream have no known time
  if (record_.first_token_ns == 0) {
    record_.first_token_ns = at_ns;
    // Most chunks hold as many tokens as the first, so this is about the right size for the whole
    // stream.
    const auto chunks = static_cast<size_t>(
        std::clamp<int64_t>(record_.planned_output_tokens / tokens, 1, kMostReserved));
    record_.chunk_ns.reserve(chunks);
    record_.chunk_tokens.reserve(chunks);
  }
  if (unsure) {
    // This chunk has its own time; the one before it does not.
    record_.unsure_chunks += record_.chunk_ns.empty() ? 0 : 1;
    record_.first_unsure |= record_.chunk_ns.size() <= 1;
  }
  record_.last_token_ns = at_ns;
  record_.chunk_ns.push_back(at_ns);
  record_.chunk_tokens.push_back(static_cast<uint32_t>(std::min<int64_t>(tokens, UINT32_MAX)));
}

void AnswerReader::TakeText(const ChunkChoice& choice) {
  if (choice.from_start) record_.text.clear();
  if (choice.text.size() > kMostKept - record_.text.size())
    return TooLong("a text longer than 64 MiB");
  record_.text += choice.text;
}

int64_t AnswerReader::TokensOf(const StreamChunk& chunk, const ChunkChoice& choice) {
  TokenCounts& by = record_.counted_by;
  if (by == TokenCounts::kNone) {
    // The first chunk shows how this server reports tokens.
    by = chunk.completion_tokens >= 0 ? TokenCounts::kUsage
         : choice.token_ids >= 0      ? TokenCounts::kTokenIds
                                      : TokenCounts::kChunks;
  }
  if (by != TokenCounts::kUsage) {
    if (chunk.completion_tokens >= 0) told_total_ = chunk.completion_tokens;
    if (by == TokenCounts::kTokenIds) return std::max<int64_t>(0, choice.token_ids);
    return choice.text.empty() ? 0 : 1;
  }
  if (chunk.completion_tokens < 0) return 0;
  if (choice.index < 0 || choice.index >= kMostChoices) return 0;
  int64_t& total = TotalOf(static_cast<size_t>(choice.index));
  const int64_t new_tokens = chunk.completion_tokens - total;
  if (new_tokens < 0 && !contradicts_) {
    contradicts_ = true;
    if (record_.error.empty()) {
      record_.error = fmt::format("wrong usage: the running total fell from {} to {} tokens", total,
                                  chunk.completion_tokens);
    }
  }
  total = chunk.completion_tokens;
  return new_tokens;
}

int64_t& AnswerReader::TotalOf(size_t choice) {
  if (choice == 0) return first_total_;
  if (choice > other_totals_.size()) other_totals_.resize(choice);
  return other_totals_[choice - 1];
}

void AnswerReader::Spread(int64_t total) {
  // The product needs 128 bits: both factors may be large.
  __extension__ using Wide = __int128;
  const int64_t counted =
      std::accumulate(record_.chunk_tokens.begin(), record_.chunk_tokens.end(), int64_t{0});
  if (counted == 0) return;
  int64_t before = 0, given = 0;
  for (uint32_t& tokens : record_.chunk_tokens) {
    before += tokens;
    const auto until = static_cast<int64_t>(Wide{total} * before / counted);
    tokens = static_cast<uint32_t>(std::min<int64_t>(until - given, UINT32_MAX));
    given = until;
  }
  record_.output_tokens = total;
}

void AnswerReader::Complain(std::string text) {
  has_error_ = true;
  if (record_.error.empty()) record_.error = std::move(text);
}

void AnswerReader::TooLong(std::string what) {
  too_long_ = what;
  Complain(std::move(what));
}

int64_t AnswerReader::MostTokens() const {
  return asked_tokens_ > 0 ? 2 * asked_tokens_ + 64 : kMostTokens;
}

std::string AnswerReader::WhyGivenUp() const {
  if (!too_long_.empty()) return too_long_;
  if (record_.output_tokens <= MostTokens()) return "";
  if (asked_tokens_ == 0) return fmt::format("{} tokens came", record_.output_tokens);
  return fmt::format("{} tokens came where {} were asked for", record_.output_tokens,
                     asked_tokens_);
}

void AnswerReader::OnEnd(std::string_view broken) {
  if (record_.http_status != 0 && record_.http_status != 200) {
    const StreamChunk* const told = parser_.Parse(body_);
    const std::string& words = told != nullptr && !told->error.empty() ? told->error : body_;
    record_.error =
        fmt::format("HTTP {}{}{}", record_.http_status, words.empty() ? "" : ": ", Shorten(words));
    record_.status = RequestStatus::kFailed;
    return;
  }
  if (record_.http_status == 200 && !streams_ && broken.empty()) {
    if (const StreamChunk* const whole = parser_.Parse(body_)) {
      TakeChunk(*whole, last_body_ns_);
      done_seen_ = true;
    } else {
      Complain("the answer is not JSON: " + Shorten(body_));
    }
  }
  JudgeWhole(broken);
}

void AnswerReader::JudgeWhole(std::string_view broken) {
  const bool has_tokens = record_.output_tokens > 0;
  if (has_error_) {
    record_.status = RequestStatus::kFailed;
    return;
  }
  const auto partial = [&](std::string text) {
    if (record_.error.empty()) record_.error = std::move(text);
    record_.status = has_tokens ? RequestStatus::kPartial : RequestStatus::kFailed;
  };
  if (!done_seen_ && !finished_) {
    return partial(!broken.empty() ? std::string(broken)
                   : events_ == 0 && !body_.empty()
                       ? "the answer is not a stream of events: " + Shorten(body_)
                   : streams_ ? "the stream ended without a finish_reason or [DONE]"
                              : "the answer has no finish_reason");
  }
  if (contradicts_) return partial("");
  const bool exact = record_.counted_by != TokenCounts::kChunks;
  if (told_total_ >= 0 && told_total_ != record_.output_tokens && exact) {
    return partial(fmt::format("wrong usage: it says {} output tokens, {} came", told_total_,
                               record_.output_tokens));
  }
  if (!exact && told_total_ > 0) Spread(told_total_);
  if (std::string why = WhyGivenUp(); !why.empty()) return partial(std::move(why));
  if (record_.output_tokens == 0) return partial("an answer without a token");
  record_.status = RequestStatus::kDone;
}

}  // namespace tacho
