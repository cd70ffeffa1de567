#include "control/engine_failure.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <utility>

#include "base/words.h"
#include "control/log_line.h"

namespace tacho {
namespace {

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
// SGLang logs this with a traceback, and serves: it asks itself before it listens (seen of 0.5.23).
constexpr std::string_view kHarmless = "post-warmup freeze_gc failed";
// The server was told to end: vLLM's own line, and uvicorn's. Requests in flight then fail.
constexpr std::array<std::string_view, 2> kEndings{"[shutdown] API server: shutdown triggered",
                                                   "INFO:     Shutting down"};
// A log may hold the next server too.
constexpr std::array<std::string_view, 3> kStarts{"LLM engine (v",
                                                  "non-default args: ", "server_args="};
constexpr size_t kMostLines = 4, kMostBytes = 1000;
// What comes before a traceback after which an engine serves.
constexpr std::array<std::string_view, 2> kSurvived{"Exception in ASGI application",
                                                    "Failed to merge profiles: "};
// Between tracebacks of one failure.
constexpr std::array<std::string_view, 2> kChained{
    "During handling of the above exception, another exception occurred:",
    "The above exception was the direct cause of the following exception:"};
// An engine serves, or starts.
constexpr std::array<std::string_view, 8> kLife{"Application startup complete",
                                                "Prefill batch",
                                                "Decode batch",
                                                "Profiler stopped.",
                                                "Profiling done.",
                                                "server_args=",
                                                "LLM engine (v",
                                                "vLLM API server version "};
constexpr std::array<std::string_view, 2> kMemory{"out of memory", "OutOfMemoryError"};
// How engines say that they end: vLLM's executor and core, SGLang's scheduler, memory.
constexpr std::array<std::string_view, 10> kDeaths{"died unexpectedly",
                                                   "EngineDeadError",
                                                   "Executor failed",
                                                   "fatal error",
                                                   "out of memory",
                                                   "OutOfMemoryError",
                                                   "Scheduler hit an exception",
                                                   "Engine core initialization failed",
                                                   "sigquit",
                                                   "It usually means one child failed"};

// "ValueError: ...", "torch.OutOfMemoryError: ...", "KeyboardInterrupt": what ends a traceback.
bool IsException(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::ranges::all_of(name, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
         });
}

// "vllm serve: error: argument --port: ..." of argparse.
size_t ComplaintAt(std::string_view text) {
  const size_t at = text.find(": error: ");
  return at == std::string_view::npos || text.find('"') < at ? std::string_view::npos : at + 2;
}

bool HasOneOf(std::string_view text, std::span<const std::string_view> all) {
  return std::ranges::any_of(
      all, [&](std::string_view words) { return text.find(words) != std::string_view::npos; });
}

// Routes without a model step answer 200 also while the engine hangs.
bool ShowsLife(std::string_view text) {
  const size_t post = text.find("\"POST /");
  return HasOneOf(text, kLife) ||
         (post != text.npos && text.find("HTTP/1.1\" 200", post) != text.npos);
}

// Reads a log line by line.
class FailureReader {
 public:
  explicit FailureReader(uint64_t lines_before) : line_(lines_before), alive_until_(lines_before) {}

  void Take(std::string_view raw) {
    ++line_;
    const LogLine line = ReadLogLine(raw);
    if (!HoldsRequest(line.text))
      is_ending_ = HasOneOf(raw, kEndings) || (is_ending_ && !HasOneOf(raw, kStarts));
    if (is_ending_) {
      is_open_ = false;
      return;
    }
    const bool ended = is_sure_ && cause_;
    if (!ended && !HoldsRequest(line.text) && ShowsLife(line.text)) BeginLife();
    if (deadly_error_ && !line.text.ends_with(kTraceback) && !cause_)
      cause_ = std::move(deadly_error_);
    deadly_error_.reset();
    FollowFailures(raw, line);
    if (!is_sure_ && !line.text.starts_with(' ') && !HoldsRequest(line.text) &&
        TellsOfDeath(line.text))
      Die(line);
    is_after_record_ = !line.time.empty() || line.is_error;
    if (is_after_record_) uncaught_.reset();  // something runs on
  }

  // All that belongs to the first failure was read.
  bool HasFirst() const { return first_ && (!is_open_ || last_->line != first_->line); }
  std::optional<EngineFailure> First() { return first_ ? first_ : first_error_; }

  std::optional<EngineEnd> End() {
    if (!death_ && uncaught_) return EngineEnd{*uncaught_, alive_until_, uncaught_->last_line};
    if (!death_) return std::nullopt;
    if (!cause_) cause_ = deadly_error_ ? deadly_error_ : life_error_;
    // Words about memory alone may be advice.
    if (!cause_ && !HasOneOf(death_->text, kMemory)) cause_ = death_;
    if (!cause_) return std::nullopt;
    return EngineEnd{*cause_, alive_until_, std::max(death_->line, cause_->last_line)};
  }

 private:
  EngineFailure Here(const LogLine& line, std::string_view text) const {
    return {line.process, line_, std::string(text.substr(0, kMostBytes)), line_, line_};
  }

  void BeginLife() {
    cause_.reset();
    life_error_.reset();
    death_.reset();
    uncaught_.reset();
    is_sure_ = false;
    alive_until_ = line_;
  }

  // A request may lack memory, too: what serves on did not die of it.
  void Die(const LogLine& line) {
    is_sure_ = !HasOneOf(line.text, kMemory);
    if (death_ && !is_sure_) return;
    death_ = Here(line, line.text);
    is_survived_ = false;
    // A traceback may follow, which says more.
    if (last_error_ && last_error_->line == line_) deadly_error_ = last_error_;
  }

  void FollowFailures(std::string_view raw, const LogLine& line) {
    if (is_open_ && AddLine(line)) return;
    is_open_ = false;
    // Until the next record, which begins with its time.
    is_harmless_ = line.text.ends_with(kHarmless) || (is_harmless_ && !raw.starts_with('['));
    if (is_harmless_) return;
    if (HasOneOf(line.text, kChained)) {
      is_chained_ = last_.has_value();
      return;
    }
    if (HasOneOf(line.text, kSurvived)) {
      is_survived_ = true;
    } else if (!line.time.empty()) {
      is_survived_ = false;
    }
    if (line.text.ends_with(kTraceback)) {
      in_traceback_ = true;
      is_uncaught_ = raw.starts_with(kTraceback) && !is_after_record_;
      // vLLM puts the process before each line of it, SGLang before the first alone.
      traceback_of_ = line.is_error ? line.process : "";
      head_line_ = last_error_ && last_error_->line + 1 == line_ ? last_error_->line : line_;
    } else if (in_traceback_ && line.process == traceback_of_) {
      if (line.text.empty() || line.text.starts_with(' ')) return;
      in_traceback_ = false;
      if (IsException(line.text)) Begin(line, line.text, head_line_);
    } else if (in_traceback_) {
      return;
    } else if (const size_t at = ComplaintAt(line.text); at != std::string::npos) {
      EndBy(line, line.text.substr(at));
    } else if (line.text.find("panicked at") != std::string::npos) {
      EndBy(line, line.text);
    } else if (line.is_error && !line.text.empty()) {
      last_error_ = Here(line, line.text);
      if (!first_error_) first_error_ = last_error_;
      if (!life_error_) life_error_ = last_error_;
    }
  }

  void EndBy(const LogLine& line, std::string_view text) {
    is_survived_ = is_chained_ = false;
    Begin(line, text, line_);
    if (!death_) death_ = last_;
    is_sure_ = true;
  }

  void Begin(const LogLine& line, std::string_view text, uint64_t first_line) {
    is_open_ = true;
    lines_ = 1;
    if (std::exchange(is_chained_, false)) {
      is_text_open_ = false;
      return EndBlockHere();
    }
    is_text_open_ = true;
    last_ = Here(line, text);
    last_->first_line = first_line;
    if (!first_) first_ = last_;
    if (std::exchange(is_survived_, false) && !TellsOfDeath(text)) return;
    if (!cause_) cause_ = last_;
    if (is_uncaught_) uncaught_ = last_;
  }

  // The other lines of a message: a pydantic error has three. The next record of a log is none.
  bool AddLine(const LogLine& line) {
    if (lines_ == kMostLines || line.text.empty() || line.process != last_->process ||
        line.text.starts_with('[') || line.text.ends_with(kTraceback) ||
        HasOneOf(line.text, kChained)) {
      return false;
    }
    ++lines_;
    if (is_text_open_) last_->text = (last_->text + "\n" + line.text).substr(0, kMostBytes);
    EndBlockHere();
    return true;
  }

  void EndBlockHere() {
    last_->last_line = line_;
    for (std::optional<EngineFailure>* const kept : {&first_, &cause_, &uncaught_})
      if (*kept && (*kept)->line == last_->line) *kept = last_;
  }

  uint64_t line_, alive_until_;
  // `is_open_`: lines of its message follow; `is_text_open_`: which are kept.
  bool is_open_ = false, is_text_open_ = false;
  bool in_traceback_ = false, is_harmless_ = false, is_survived_ = false, is_chained_ = false;
  bool is_after_record_ = false;  // a message of the engine's, to which a traceback may belong
  bool is_uncaught_ = false;      // the traceback that is read: Python's own, as it ends
  bool is_ending_ = false;        // the server was told to end
  bool is_sure_ = false;          // that the words of `death_` tell of an end
  size_t lines_ = 0;
  uint64_t head_line_ = 0;
  std::string traceback_of_;
  std::optional<EngineFailure> first_, last_;
  // Errors without a traceback.
  std::optional<EngineFailure> first_error_, last_error_;
  // Since the last sign of life.
  std::optional<EngineFailure> cause_, life_error_, deadly_error_, death_, uncaught_;
};

}  // namespace

std::optional<EngineFailure> FirstFailure(std::string_view log, uint64_t lines_before) {
  FailureReader reader(lines_before);
  while (!log.empty() && !reader.HasFirst()) reader.Take(TakeLine(log));
  return reader.First();
}

bool TellsOfDeath(std::string_view text) { return HasOneOf(text, kDeaths); }

std::optional<EngineEnd> EndOfEngine(std::string_view log, uint64_t lines_before,
                                     const std::stop_token& stop) {
  FailureReader reader(lines_before);
  while (!log.empty() && !stop.stop_requested()) reader.Take(TakeLine(log));
  return reader.End();
}

}  // namespace tacho
