#include "control/engine_failure.h"

#include <algorithm>
#include <cctype>
#include <span>

#include "base/words.h"
#include "control/log_line.h"

namespace tacho {
namespace {

constexpr std::string_view kTraceback = "Traceback (most recent call last):";
// SGLang logs this with a traceback, and serves: it asks itself before it listens (seen of 0.5.23).
constexpr std::string_view kHarmless = "post-warmup freeze_gc failed";
// The server was told to end: vLLM's own line, and uvicorn's. Requests in flight then fail.
constexpr std::string_view kEndings[] = {"[shutdown] API server: shutdown triggered",
                                         "INFO:     Shutting down"};
// A log may hold the next server too.
constexpr std::string_view kStarts[] = {"LLM engine (v", "non-default args: ", "server_args="};
constexpr size_t kMostLines = 4, kMostBytes = 1000;

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

bool HasOneOf(std::string_view text, std::span<const std::string_view> signs) {
  return std::ranges::any_of(
      signs, [&](std::string_view sign) { return text.find(sign) != std::string_view::npos; });
}

// Reads a log line by line and stops after the first failure.
class FailureReader {
 public:
  explicit FailureReader(uint64_t lines_before) : line_(lines_before) {}

  // False once all that belongs to the failure was read.
  bool Take(std::string_view raw) {
    ++line_;
    const LogLine line = ReadLogLine(raw);
    if (!failure_.text.empty()) return AddLine(line);
    is_ending_ = HasOneOf(raw, kEndings) || (is_ending_ && !HasOneOf(raw, kStarts));
    if (is_ending_) return true;
    // Until the next record, which begins with its time.
    is_harmless_ = line.text.ends_with(kHarmless) || (is_harmless_ && !raw.starts_with('['));
    if (is_harmless_) return true;
    if (line.text.ends_with(kTraceback)) {
      in_traceback_ = true;
      // vLLM puts the process before each line of it, SGLang before the first alone.
      traceback_of_ = line.is_error ? line.process : "";
      return true;
    }
    if (in_traceback_ && line.process == traceback_of_) {
      if (line.text.empty() || line.text.starts_with(' ')) return true;
      in_traceback_ = false;
      if (IsException(line.text)) Begin(line, line.text);
      return true;
    }
    if (in_traceback_) return true;
    if (const size_t at = ComplaintAt(line.text); at != std::string::npos) {
      Begin(line, line.text.substr(at));
    } else if (line.text.find("panicked at") != std::string::npos) {
      Begin(line, line.text);
    } else if (line.is_error && !announced_) {
      announced_ = EngineFailure{line.process, line_, line.text};
    }
    return true;
  }

  std::optional<EngineFailure> Finish() {
    if (failure_.text.empty()) return announced_;
    if (failure_.text.size() > kMostBytes) failure_.text.resize(kMostBytes);
    return std::move(failure_);
  }

 private:
  void Begin(const LogLine& line, std::string_view text) {
    failure_ = {line.process, line_, std::string(text)};
    lines_ = 1;
  }

  // The other lines of a message: a pydantic error has three. The next record of a log is none.
  bool AddLine(const LogLine& line) {
    if (lines_ == kMostLines || line.text.empty() || line.process != failure_.process ||
        line.text.starts_with('[') || line.text.ends_with(kTraceback)) {
      return false;
    }
    ++lines_;
    failure_.text += "\n" + line.text;
    return true;
  }

  uint64_t line_;
  size_t lines_ = 0;
  bool in_traceback_ = false, is_harmless_ = false, is_ending_ = false;
  std::string traceback_of_;
  EngineFailure failure_;
  std::optional<EngineFailure> announced_;  // an error without a traceback so far
};

}  // namespace

std::optional<EngineFailure> FirstFailure(std::string_view log, uint64_t lines_before) {
  FailureReader reader(lines_before);
  while (!log.empty() && reader.Take(TakeLine(log))) {
  }
  return reader.Finish();
}

}  // namespace tacho
