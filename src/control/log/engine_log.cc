#include "control/log/engine_log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/words.h"

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

EngineLog::EngineLog(std::string path)
    : path_(std::move(path)), begin_(path_.empty() ? 0 : SizeOf(path_)), read_(begin_) {}

void EngineLog::ReadOn() {
  if (path_.empty()) return;
  const int64_t size = SizeOf(path_);
  // If the log was rotated, everything in it is new.
  if (size < read_) begin_ = read_ = 0;
  const int64_t from = std::max(read_, size - kMostText);
  if (from > read_) rest_.clear();
  rest_ += ReadRange(path_, from, size);
  read_ = size;
  std::string_view whole(rest_);
  while (whole.find('\n') != whole.npos)
    lines_.ReadAll(TakeLine(whole), [&](const LogLine& line) { Take(line); });
  rest_.erase(0, rest_.size() - whole.size());
  if (rest_.size() > kMostLine) rest_.clear();
}

void EngineLog::Take(const LogLine& line) {
  if (line.Says(LogSign::kRequest)) return;
  if (const std::string_view phase = StartPhaseOf(line.text); !phase.empty()) phase_ = phase;
  // A line about full memory is a death only if it reports an error or an exception: an engine also
  // logs advice about memory, and survives a request that runs out of memory.
  const bool fails = line.is_error || IsException(line.text);
  if (death_.empty() && !line.is_notice &&
      (line.Says(LogSign::kDies) || (fails && line.Says(LogSign::kFullMemory))))
    death_ = line.text;
  if (!line.Says(LogSign::kProfiler)) return;
  if (failure_.empty() && line.Says(LogSign::kFails)) failure_ = line.text;
  last_word_ = line.text;
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
  // Looks at the unfinished line, too: a progress bar ends its line only when it is full.
  if (const std::string_view phase = StartPhaseOf(rest_); !phase.empty()) phase_ = phase;
  return phase_;
}

std::string EngineLog::Text() const {
  if (path_.empty()) return "";
  const int64_t size = SizeOf(path_);
  const int64_t begin = size < begin_ ? 0 : begin_;
  if (size - begin <= kMostText) return ReadRange(path_, begin, size);
  // Drops the rest of the line that was cut: the name of a secret may be in its first part.
  std::string text = ReadRange(path_, size - kMostText, size);
  return text.erase(0, text.find('\n') + 1);
}

}  // namespace tacho
