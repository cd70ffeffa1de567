#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "control/log/log_envelope.h"
#include "control/log/log_signs.h"

namespace tacho {

// The line without ANSI sequences ("\x1b[...m") and carriage returns: routers also colour logs in
// files.
std::string WithoutColours(std::string_view line);

// Which part of a Python traceback a line is. All lines of a traceback have the same writer and the
// same `head`; lines of other writers may stand between them.
enum class TracebackPart : uint8_t {
  kNone,
  kHead,       // "Traceback (most recent call last):"
  kInside,     // a frame, an empty line, or Ray's word for the exception of a worker
  kException,  // the line that ends it
};

// A line of an engine's log, taken apart.
//
//   (VllmWorker-0 pid=123) ERROR 11-24 16:02:39 [multiproc_executor.py:953] ValueError: ...
//   [2026-11-24 16:03:22 TP1] Scheduler hit an exception: Traceback (most recent call last):
//   (SGLangEngine pid=101) [2026-11-24 16:03:22 TP1] Profiling starts.
//   w0 | [2026-11-24 16:03:22 TP1] Profiling starts.
//
//   vllm-0 engine (EngineCore pid=7) ERROR 11-24 16:02:39 [core.py:1] ...
//
// Leaves out what a collector puts before each line: the times of docker and kubectl, the heads of
// journalctl and syslog, and, by LogLineReader, whatever else stands before an engine's records.
struct LogLine {
  uint64_t number = 0;  // in the log, from 1; an object of a collector may hold several lines
  // "VllmWorker-0 pid=123", "pid=123"; for SGLang also the rank: "TP1", "SGLangEngine pid=101 TP1".
  // "" if not named.
  std::string process;
  // The part of `process` that every line of a message carries: only the first has SGLang's rank.
  std::string writer;
  // The engine's name in a log of several engines: "SGLangEngine pid=101" from Ray, "vllm-0 engine"
  // from stern, "w0" from whoever joined their logs.
  std::string engine;
  std::string time;  // "16:02:39", the time of day; "" if the line has none
  // vLLM's "ERROR 11-24 16:02:39 [core.py:1510]", the same in all lines of a message.
  std::string head;
  bool is_error = false;   // the engine calls it ERROR or CRITICAL
  bool is_notice = false;  // the engine gives it a lower level than that
  // The rest of the line, without blanks at its end. Secrets in it are blanked (base/secrets.h):
  // findings quote it.
  std::string text;
  // What the text says. An indented line has no sign but kRequest.
  LogSigns signs;
  TracebackPart traceback = TracebackPart::kNone;

  [[nodiscard]] bool Says(LogSign sign) const { return signs[static_cast<size_t>(sign)]; }
};

// Reads the lines of one log in their order. Once it has seen a name before an engine's own record,
// it recognizes that name in lines without a time too; likewise any other prefix of a collector,
// even if the numbers in it differ. It keeps at most 64 names, 64 prefixes and 256 open tracebacks.
class LogLineReader {
 public:
  // `lines_before`: the number of lines before the first.
  explicit LogLineReader(uint64_t lines_before = 0) : number_(lines_before) {}

  // Takes the next line of the log. Calls `take` for it, or for each line in a collector's object.
  // Ignores what follows the first 16 KiB of a line.
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

  std::set<std::pair<std::string, std::string>> known_;  // a prefix and its name: "w0  | ", "w0"
  std::set<std::string> shapes_;  // other prefixes, each number as 0: "[0,0]<stderr>:"
  uint64_t number_;
  std::map<std::string, std::string> tracebacks_;  // open ones: the head by the writer
};
LogLine ReadLogLine(std::string_view line);  // one line alone, with no names known

}  // namespace tacho
