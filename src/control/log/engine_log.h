#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "control/log/log_line.h"

namespace tacho {

// Follows an engine's log, from its end at the time of construction.
class EngineLog {
 public:
  explicit EngineLog(std::string path = "");  // "": no log, and every answer is ""

  // The last line since construction that concerns the profiler, without colours and without the
  // logger's prefix; or "".
  const std::string& LastWord();
  // The first such line that reports a failure, or "".
  const std::string& Failure();
  // The first line that shows that the engine died, or "".
  const std::string& Death();
  // The phase of the engine's start, by the last line that shows one (StartPhaseOf), or "".
  const std::string& StartPhase();
  // The last megabytes of what was written since construction, unchanged.
  std::string Text() const;

  const std::string& path() const { return path_; }

 private:
  void ReadOn();
  void Take(const LogLine& line);

  LogLineReader lines_;
  std::string path_, rest_, last_word_, failure_, death_, phase_;
  int64_t begin_ = 0, read_ = 0;  // bytes of the file
};

}  // namespace tacho
