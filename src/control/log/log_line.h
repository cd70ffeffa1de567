#pragma once

#include <set>
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
//
//   vllm-0 engine (EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:1] ...
//
// What a collector puts before each line is left out: the times of docker and kubectl, the heads of
// journalctl and syslog, and by LogLineReader whatever else stands before an engine's records.
struct LogLine {
  // "VllmWorker-0 pid=123", "pid=123"; of SGLang its rank, "TP1", "SGLangEngine pid=101 TP1"; "" if
  // not named.
  std::string process;
  // Of it what each line of a message carries: SGLang's rank is in the first alone.
  std::string writer;
  // The engine, in a log of several: "SGLangEngine pid=101" of Ray, "vllm-0 engine" of stern, "w0"
  // of who joined their logs.
  std::string engine;
  std::string time;  // "16:02:39", of its day; "" if the line has none
  // "ERROR 11-24 16:02:39 [core.py:1510]" of vLLM, the same in all lines of a message.
  std::string head;
  bool is_error = false;   // the engine calls it ERROR or CRITICAL
  bool is_notice = false;  // the engine gives it a lower level than that
  // Without all of that, and without blanks at its end. Its secrets are blanked (base/secrets.h):
  // findings quote it.
  std::string text;
};

// Reads the lines of one log in their order: a name before the engine's own records is known in
// lines without a time too, once it was seen; so is anything else that a collector puts there and
// that differs in its numbers alone. It keeps at most 64 of both.
class LogLineReader {
 public:
  LogLine Read(std::string_view line);

 private:
  std::string TakeKnownName(std::string_view& text) const;
  void Learn(std::string_view before, const std::string& name);
  void TakeOthers(std::string_view& text);

  std::set<std::pair<std::string, std::string>> known_;  // "w0  | ", "w0"
  std::set<std::string> shapes_;                         // "[0,0]<stderr>:"
};
LogLine ReadLogLine(std::string_view line);  // of a log whose names are not known

// Whether a line's text holds what a client sent.
bool HoldsRequest(std::string_view text);

// "INFO:     127.0.0.1:5 - "GET /health HTTP/1.1" 200 OK", the web server of both engines.
bool IsOfUvicorn(std::string_view text);

}  // namespace tacho
