#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "control/log/log_envelope.h"
#include "control/log/log_signs.h"

namespace tacho {

// The line without ANSI sequences ("\x1b[...m") and carriage returns: routers colour their logs
// even in files.
std::string WithoutColours(std::string_view line);

// Which part of a Python traceback a line is. All lines of one traceback have the same writer and
// the same `head`; lines of other writers may stand between them.
enum class TracebackPart : uint8_t {
  kNone,
  kHead,       // "Traceback (most recent call last):"
  kInside,     // a frame, an empty line, or Ray's line before the exception of a worker
  kException,  // the line that ends the traceback
};

// A line of an engine's log, divided into its parts. Examples:
//
//   (VllmWorker-0 pid=123) ERROR 11-24 16:02:39 [multiproc_executor.py:953] ValueError: ...
//   [2026-11-24 16:03:22 TP1] Scheduler hit an exception: Traceback (most recent call last):
//   (SGLangEngine pid=101) [2026-11-24 16:03:22 TP1] Profiling starts.
//   w0 | [2026-11-24 16:03:22 TP1] Profiling starts.
//
//   vllm-0 engine (EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:1] ...
//
// Excludes what a collector puts before each line: the times of docker and kubectl, the heads of
// journalctl and syslog, and, in LogLineReader, anything else before an engine's own text.
struct LogLine {
  // The line's number in the log, from 1; all lines inside one collector's object share it.
  uint64_t number = 0;
  // "VllmWorker-0 pid=123", "pid=123"; for SGLang also the rank: "TP1", "SGLangEngine pid=101 TP1".
  // "" if the line names no process.
  std::string process;
  // The part of `process` that is on every line of a message; SGLang's rank is only on the first.
  std::string writer;
  // The engine's name in a log of several engines: "SGLangEngine pid=101" from Ray, "vllm-0 engine"
  // from stern, or "w0" from a program that joined several logs.
  std::string engine;
  std::string time;  // "16:02:39", the time of day; "" if the line has none
  // vLLM's "ERROR 11-24 16:02:39 [core.py:1510]", which is the same on all lines of a message.
  std::string head;
  bool is_error = false;   // the engine calls it ERROR or CRITICAL
  bool is_notice = false;  // the engine gives it a level below ERROR
  // The rest of the line, without blanks at its end. Secrets are blanked (base/secrets.h), because
  // findings quote this text.
  std::string text;
  // What the text says about the engine. An indented line can only have the sign kRequest.
  LogSigns signs;
  TracebackPart traceback = TracebackPart::kNone;

  [[nodiscard]] bool Says(LogSign sign) const { return signs[static_cast<size_t>(sign)]; }
};

// Reads the lines of one log in their order. Once it has seen a name before an engine's own text,
// it recognizes that name in lines without a time, too. It does the same for any other prefix of a
// collector, even if the numbers in it change. It keeps at most 64 names, 64 prefixes and 256 open
// tracebacks.
class LogLineReader {
 public:
  // `lines_before`: the number of lines in the log before the first one that it reads.
  explicit LogLineReader(uint64_t lines_before = 0) : number_(lines_before) {}

  // Takes the next line of the log. Calls `take` for it or, if it is a collector's object, for each
  // line in the object. Ignores what follows the first 16 KiB of a line.
  template <typename Take>
  void ReadAll(std::string_view line, Take take) {
    ++number_;
    ForEachLineIn(line, [&](std::string_view one) { take(Read(one.substr(0, kMostOfLine))); });
  }
  LogLine Read(std::string_view line);

 private:
  static constexpr size_t kMostOfLine = 16 << 10;

  TracebackPart PartOf(const LogLine& line);
  std::string TakeKnownName(std::string_view& text) const;
  void Learn(std::string_view before, const std::string& name);
  void TakeOthers(std::string_view& text);

  // The whole prefix and the name in it: "w0  | ", "w0".
  std::set<std::pair<std::string, std::string>> known_;
  // Other prefixes; each number in them is replaced by 0: "[0,0]<stderr>:".
  std::set<std::string> shapes_;
  uint64_t number_;
  std::map<std::string, std::string> tracebacks_;  // the heads of open tracebacks, by writer
};
LogLine ReadLogLine(std::string_view line);  // reads one line without knowing any names

}  // namespace tacho
