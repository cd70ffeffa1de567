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

// What is known of one generated text when an event of its stream, or the whole answer, is written.
struct AnswerPart {
  int64_t index = 0;  // number of the text within the answer
  const std::vector<int64_t>* prompt = nullptr;
  int64_t cached_tokens = 0;
  std::string text;          // text that is new in this event
  std::vector<int64_t> ids;  // ids that are new in this event
  std::string whole_text;    // all text so far
  std::vector<int64_t> whole_ids;
  bool first = false;
  std::string_view finish;         // "length", "stop"; "" before the end
  double seconds = 0;              // since the request arrived
  double first_token_seconds = 0;  // from arrival to the first token
};

// The format in which an API writes an answer. One object per request.
class AnswerFormat {
 public:
  virtual ~AnswerFormat() = default;
  // The event before the first token; "" if there is none.
  virtual std::string Opening(const AnswerPart& part) = 0;
  virtual std::string Event(const AnswerPart& part) = 0;
  // The events after the last token and before [DONE]; "" if there are none.
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

// One text to be generated.
struct AnswerText {
  uint64_t id = 0;  // id of the engine's request for it
  std::vector<int64_t> prompt;
  int64_t cached_tokens = 0;
  int64_t length = 1;  // tokens of the answer
  std::string_view finish = "length";
  uint64_t seed = 0;  // determines its tokens
};

// The texts that a request asks for: `copies` texts for each prompt.
struct TextOrder {
  const std::vector<std::vector<int64_t>>& prompts;
  int64_t copies = 1;
  int64_t most_tokens = 0;  // limit for each text; 0: as many as fit
  bool ignore_eos = false;
  int64_t max_model_len = 0;
  PrefixCache* prefixes = nullptr;  // nullptr: prefix caching is off
};
std::vector<AnswerText> PlanTexts(const TextOrder& order, uint64_t& next_id);

// Answers one HTTP request with one or more texts as their tokens come, either as a stream of
// server-sent events or at once. If the reader is slow, the events that wait for it are joined into
// one.
class Answer : public std::enable_shared_from_this<Answer> {
 public:
  Answer(std::shared_ptr<HttpExchange> exchange, std::unique_ptr<AnswerFormat> format,
         AnswerOptions options, std::vector<AnswerText> texts, int64_t started_ns);

  // The listener for the text with index `text`. It keeps the answer alive.
  std::shared_ptr<TokenListener> ListenerOf(size_t text);
  // Called for each text that is no longer needed, because another text ended the stream with an
  // error.
  std::function<void(uint64_t id)> abort;
  // Called once, when the answer ends, however it ends.
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

// An event of a stream: "data: JSON\n\n".
std::string SseEvent(std::string_view json);

}  // namespace tacho::simulate
