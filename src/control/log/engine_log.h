#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "control/log/log_line.h"

namespace tacho {

// Follows the log of an engine from its end at the time when this is made.
class EngineLog {
 public:
  explicit EngineLog(std::string path = "");  // "": none, which says nothing

  // The last line since then that concerns the profiler, without colours and the logger's prefix;
  // or "".
  const std::string& LastWord();
  // The first such line that reports a failure, or "".
  const std::string& Failure();
  // The first line that shows that the engine died, or "".
  const std::string& Death();
  // What the engine's start does, by the last line that names it (StartPhaseOf), or "".
  const std::string& StartPhase();
  // What was written since then: its last megabytes, unchanged.
  std::string Text() const;

  const std::string& path() const { return path_; }

 private:
  void ReadOn();
  void TakeMessage(std::string_view raw);

  LogLineReader lines_;
  std::string path_, rest_, last_word_, failure_, death_, phase_;
  int64_t begin_ = 0, read_ = 0;  // bytes of the file
};

// Whether a message concerns the profiler: lines of the access log do not.
bool ConcernsProfiler(std::string_view message);

}  // namespace tacho
