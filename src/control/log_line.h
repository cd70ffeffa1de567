#pragma once

#include <string>
#include <string_view>

namespace tacho {

// The line without ANSI sequences ("\x1b[...m") and carriage returns: routers also colour logs in
// files.
std::string WithoutColours(std::string_view line);

// A line of an engine's log, taken apart.
//
//   (VllmWorker-0 pid=123) ERROR 11-24 16:02:39 [multiproc_executor.py:953] ValueError: ...
//   [2026-11-24 16:03:22 TP1] Scheduler hit an exception: Traceback (most recent call last):
//   (SGLangEngine pid=101) [2026-11-24 16:03:22 TP1] Profiling starts.
//   w0 | [2026-11-24 16:03:22 TP1] Profiling starts.
struct LogLine {
  // "VllmWorker-0 pid=123", "pid=123"; of SGLang its rank, "TP1", "SGLangEngine pid=101 TP1"; "" if
  // not named.
  std::string process;
  bool is_named = false;  // of SGLang: by more than its rank
  std::string time;       // "16:02:39", of its day; "" if the line has none
  bool is_error = false;  // the engine calls it ERROR or CRITICAL
  std::string text;       // without all of that, and without blanks at its end
};
LogLine ReadLogLine(std::string_view line);

// Whether a line's text holds what a client sent.
bool HoldsRequest(std::string_view text);

}  // namespace tacho
