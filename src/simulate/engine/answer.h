#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.h"
#include "simulate/api_error.h"
#include "simulate/engine/engine.h"
#include "simulate/engine/prompt.h"

namespace tacho::simulate {

// The state of one generated text: what an event of its stream, or the whole answer, may contain.
struct AnswerPart {
  int64_t index = 0;  // among the answer's texts
  const std::vector<int64_t>* prompt = nullptr;
  int64_t cached_tokens = 0;
  std::string text;          // new in this event
  std::vector<int64_t> ids;  // new in this event
  std::string whole_text;    // so far
  std::vector<int64_t> whole_ids;
  bool first = false;
  std::string_view finish;         // "length", "stop"; "" before the end
  double seconds = 0;              // from the request's arrival on
  double first_token_seconds = 0;  // likewise
};

// The format of an API's answers. One object per request.
class AnswerFormat {
 public:
  virtual ~AnswerFormat() = default;
  // The event before the first token, "" for none.
  virtual std::string Opening(const AnswerPart& part) = 0;
  virtual std::string Event(const AnswerPart& part) = 0;
  // The events after the last token, before [DONE]; "" for none.
  virtual std::string Closing(const std::vector<AnswerPart>& parts) = 0;
  virtual std::string Whole(const std::vector<AnswerPart>& parts) = 0;
  virtual std::string StreamError(const ApiError& error) = 0;
};

struct AnswerOptions {
  bool stream = false;
  int64_t interval = 1;  // tokens per event
  int64_t vocabulary = 1;
  int64_t break_off_after = -1;  // tokens after which the stream ends in an error; -1: never
  std::vector<HttpHeader> headers;
};

// One text to make.
struct AnswerText {
  uint64_t id = 0;  // the id of the engine's request
  std::vector<int64_t> prompt;
  int64_t cached_tokens = 0;
  int64_t length = 1;  // tokens of the answer
  std::string_view finish = "length";
  uint64_t seed = 0;  // of its tokens
};

// The texts that a request asks for: `copies` of each prompt.
struct TextOrder {
  const std::vector<std::vector<int64_t>>& prompts;
  int64_t copies = 1;
  int64_t most_tokens = 0;  // of an answer; 0: as many as fit
  bool ignore_eos = false;
  int64_t max_model_len = 0;
  PrefixCache* prefixes = nullptr;  // nullptr: prefix caching is off
};
std::vector<AnswerText> PlanTexts(const TextOrder& order, uint64_t& next_id);

// Answers one HTTP request with one or more texts as their tokens come, as a stream of server-sent
// events or at once. The backlog of a slow reader is merged into one event.
class Answer : public std::enable_shared_from_this<Answer> {
 public:
  Answer(std::shared_ptr<HttpExchange> exchange, std::unique_ptr<AnswerFormat> format,
         AnswerOptions options, std::vector<AnswerText> texts, int64_t started_ns);

  // The listener for the text with that index; it keeps the answer alive.
  std::shared_ptr<TokenListener> ListenerOf(size_t text);
  // Called for each text that is no longer needed because another one ended the stream with an
  // error.
  std::function<void(uint64_t id)> abort;
  // Called once, when the answer is over in any way.
  std::function<void()> ended;

 private:
  friend class AnswerListener;
  struct State {
    AnswerText text;
    AnswerPart part;
    Detokenizer detokenizer;
    int64_t tokens = 0, pending = 0;
    bool over = false;
  };
  void OnToken(size_t index, int64_t now_ns, bool last);
  void OnAborted();
  void Send(State& state);
  void BreakOff(const State& state);
  void End();
  void Over();

  std::shared_ptr<HttpExchange> exchange_;
  std::unique_ptr<AnswerFormat> format_;
  AnswerOptions options_;
  std::vector<State> states_;
  int64_t started_ns_;
  bool begun_ = false, over_ = false;
};

// "data: JSON\n\n"
std::string SseEvent(std::string_view json);

}  // namespace tacho::simulate
