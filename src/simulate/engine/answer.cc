#include "simulate/engine/answer.h"

#include <algorithm>
#include <utility>

namespace tacho::simulate {

std::vector<AnswerText> PlanTexts(const TextOrder& order, uint64_t& next_id) {
  std::vector<AnswerText> texts;
  for (const auto& prompt : order.prompts) {
    for (int64_t copy = 0; copy < order.copies; ++copy) {
      AnswerText text;
      text.id = next_id++;
      text.prompt = prompt;
      text.cached_tokens = order.prefixes != nullptr ? order.prefixes->Match(prompt) : 0;
      text.seed = HashOf(prompt) + static_cast<uint64_t>(copy);
      const int64_t room = order.max_model_len - static_cast<int64_t>(prompt.size());
      text.length = order.most_tokens > 0 ? order.most_tokens : room;
      const int64_t natural = NaturalLength(text.seed);
      if (!order.ignore_eos && natural < text.length) {
        text.length = natural;
        text.finish = "stop";
      }
      texts.push_back(std::move(text));
    }
  }
  return texts;
}

namespace {

constexpr size_t kSlowReader = 64 << 10;  // with this many bytes waiting, a reader counts as slow
constexpr const char* kEventStream = "text/event-stream; charset=utf-8";

}  // namespace

class AnswerListener : public TokenListener {
 public:
  AnswerListener(std::shared_ptr<Answer> answer, size_t index)
      : answer_(std::move(answer)), index_(index) {}
  void OnToken(int64_t now_ns, bool last) override { answer_->OnToken(index_, now_ns, last); }
  bool IsWanted() const override { return !answer_->over_ && answer_->exchange_->connected(); }
  void OnAborted() override { answer_->OnAborted(); }

 private:
  std::shared_ptr<Answer> answer_;
  size_t index_;
};

std::string SseEvent(std::string_view json) {
  std::string event = "data: ";
  event += json;
  return event += "\n\n";
}

Answer::Answer(std::shared_ptr<HttpExchange> exchange, std::unique_ptr<AnswerFormat> format,
               AnswerOptions options, std::vector<AnswerText> texts, int64_t started_ns)
    : exchange_(std::move(exchange)),
      format_(std::move(format)),
      options_(std::move(options)),
      started_ns_(started_ns) {
  states_.resize(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    states_[i].text = std::move(texts[i]);
    states_[i].part.index = static_cast<int64_t>(i);
    states_[i].part.prompt = &states_[i].text.prompt;
    states_[i].part.cached_tokens = states_[i].text.cached_tokens;
    states_[i].part.first = true;
  }
}

std::shared_ptr<TokenListener> Answer::ListenerOf(size_t text) {
  return std::make_shared<AnswerListener>(shared_from_this(), text);
}

void Answer::OnToken(size_t index, int64_t now_ns, bool last) {
  if (over_) return;
  State& state = states_[index];
  AnswerPart& part = state.part;
  const int64_t token = OutputToken(state.text.seed, state.tokens++, options_.vocabulary);
  const std::string text = state.detokenizer.Push(token);
  part.text += text;
  part.whole_text += text;
  part.ids.push_back(token);
  part.whole_ids.push_back(token);
  part.seconds = static_cast<double>(now_ns - started_ns_) / 1e9;
  if (state.tokens == 1) part.first_token_seconds = part.seconds;
  ++state.pending;
  if (last) {
    part.finish = state.text.finish;
    state.over = true;
  }
  if (options_.break_off_after >= 0 && state.tokens > options_.break_off_after && options_.stream) {
    BreakOff(state);
    return;
  }
  if (options_.stream) {
    const bool due = part.first || state.pending >= options_.interval;
    if (last || (due && exchange_->backlog() < kSlowReader)) Send(state);
  }
  if (std::ranges::all_of(states_, &State::over)) End();
}

void Answer::Send(State& state) {
  std::string bytes;
  if (!begun_) exchange_->Begin(200, kEventStream, options_.headers);
  begun_ = true;
  if (state.part.first) {
    if (const std::string opening = format_->Opening(state.part); !opening.empty()) {
      bytes += SseEvent(opening);
    }
  }
  bytes += SseEvent(format_->Event(state.part));
  exchange_->Write(std::move(bytes));
  state.part.first = false;
  state.part.text.clear();
  state.part.ids.clear();
  state.pending = 0;
}

void Answer::BreakOff(const State& state) {
  if (!begun_) exchange_->Begin(200, kEventStream, options_.headers);
  ApiError error{500,
                 "EngineCore encountered an issue. See stack trace (above) for the root cause.",
                 "InternalServerError", ""};
  exchange_->Write(SseEvent(format_->StreamError(error)) + SseEvent("[DONE]"));
  exchange_->End();
  for (const State& other : states_) {
    if (abort && !other.over && &other != &state) abort(other.text.id);
  }
  if (abort && !state.over) abort(state.text.id);
  Over();
}

void Answer::End() {
  std::vector<AnswerPart> parts;
  for (const State& state : states_) parts.push_back(state.part);
  if (options_.stream) {
    std::string bytes;
    if (const std::string closing = format_->Closing(parts); !closing.empty()) {
      bytes += SseEvent(closing);
    }
    exchange_->Write(bytes + SseEvent("[DONE]"));
    exchange_->End();
  } else {
    exchange_->Respond(200, format_->Whole(parts), "application/json", options_.headers);
  }
  Over();
}

void Answer::OnAborted() {
  if (over_) return;
  exchange_->Abort();
  Over();
}

void Answer::Over() {
  over_ = true;
  if (ended) std::exchange(ended, nullptr)();
}

}  // namespace tacho::simulate
