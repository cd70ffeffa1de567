#include "control/log/engine_log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/words.h"
#include "control/log/failure_words.h"
#include "control/log/start_phase.h"

namespace tacho {
namespace {

constexpr int64_t kMostText = 4 << 20;
constexpr size_t kMostLine = 64 << 10;

int64_t SizeOf(const std::string& path) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  return failed ? 0 : static_cast<int64_t>(size);
}

std::string ReadRange(const std::string& path, int64_t from, int64_t to) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(from);
  std::string text(static_cast<size_t>(std::max<int64_t>(0, to - from)), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

}  // namespace

bool ConcernsProfiler(std::string_view message) {
  const std::string lower = AsciiLowered(message);
  return (lower.find("profil") != std::string::npos ||
          lower.find("shared memory broadcast block") != std::string::npos) &&
         lower.find(" http/1.") == std::string::npos;
}

EngineLog::EngineLog(std::string path)
    : path_(std::move(path)), begin_(path_.empty() ? 0 : SizeOf(path_)), read_(begin_) {}

void EngineLog::ReadOn() {
  if (path_.empty()) return;
  const int64_t size = SizeOf(path_);
  // The log was rotated: all that is in it now is new.
  if (size < read_) begin_ = read_ = 0;
  const int64_t from = std::max(read_, size - kMostText);
  if (from > read_) rest_.clear();
  rest_ += ReadRange(path_, from, size);
  read_ = size;
  std::string_view whole(rest_);
  while (whole.find('\n') != whole.npos) TakeMessage(TakeLine(whole));
  rest_.erase(0, rest_.size() - whole.size());
  if (rest_.size() > kMostLine) rest_.clear();
}

void EngineLog::TakeMessage(std::string_view raw) {
  LogLine line = lines_.Read(raw);
  if (HoldsRequest(line.text)) return;
  std::string& message = line.text;
  if (const std::string_view phase = StartPhaseOf(message); !phase.empty()) phase_ = phase;
  // Advice about memory does not end an engine, nor does a request that ran out of it.
  const bool fails = line.is_error || IsException(message);
  if (death_.empty() && !line.is_notice &&
      (TellsOfEnd(message) || (fails && TellsOfFullMemory(message))))
    death_ = message;
  if (!ConcernsProfiler(message)) return;
  // SGLang's answer to a stop is no failure if the session has already ended by its own step count.
  if (failure_.empty() && message.find("Profiling is not in progress") == std::string::npos &&
      (message.find("ailed") != std::string::npos || message.find("rror") != std::string::npos ||
       message.find("Not starting tracing") != std::string::npos))  // Kineto
    failure_ = message;
  last_word_ = std::move(message);
}

const std::string& EngineLog::LastWord() {
  ReadOn();
  return last_word_;
}

const std::string& EngineLog::Failure() {
  ReadOn();
  return failure_;
}

const std::string& EngineLog::Death() {
  ReadOn();
  return death_;
}

const std::string& EngineLog::StartPhase() {
  ReadOn();
  // A progress bar ends its line only when it is full.
  if (const std::string_view phase = StartPhaseOf(rest_); !phase.empty()) phase_ = phase;
  return phase_;
}

std::string EngineLog::Text() const {
  if (path_.empty()) return "";
  const int64_t size = SizeOf(path_);
  const int64_t begin = size < begin_ ? 0 : begin_;
  if (size - begin <= kMostText) return ReadRange(path_, begin, size);
  // Drops the rest of a cut line: the name of a secret may be in its first part.
  std::string text = ReadRange(path_, size - kMostText, size);
  return text.erase(0, text.find('\n') + 1);
}

}  // namespace tacho
