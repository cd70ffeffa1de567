#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "control/log/log_line.h"

namespace tacho {

// Follows an engine's log, beginning at its end at the time of construction.
class EngineLog {
 public:
  explicit EngineLog(std::string path = "");  // "": there is no log, and every function returns ""

  // The last line since construction that concerns the profiler, without colours and without the
  // logger's prefix; "" if there is none.
  const std::string& LastWord();
  // The first line that reports a failure of the profiler, or "".
  const std::string& Failure();
  // The first line that shows that the engine died, or "".
  const std::string& Death();
  // The phase of the engine's start, taken from the last line that shows one (StartPhaseOf), or "".
  const std::string& StartPhase();
  // What was written since construction, unchanged; at most its last megabytes.
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
