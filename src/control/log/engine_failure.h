#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "control/log/log_line.h"

namespace tacho {

// A failure in an engine's log: the exception of a Python traceback, an error message of Python's
// argument parser, a crash message, or a line that the engine calls an error. In a chain of
// exceptions, the first one is the failure. If a line only announces a traceback, the failure is
// that traceback's exception.
struct EngineFailure {
  // The name of the process in the log: "VllmWorker-0 pid=123"; "" if it has none.
  std::string process;
  uint64_t line = 0;  // the line's number in the log, from 1
  std::string text;   // "ValueError: Unsupported profiler type for cpu: cuda.", at most 4 lines
  // The last exception that this failure led to, which says what was tried; 0 and "" if there is
  // none.
  uint64_t led_line = 0;
  std::string led_to = {};
  // The lines of the failure: from the line that announces it, or else from the start of its
  // traceback, to the last line of its message.
  uint64_t first_line = 0, last_line = 0;
};

// How an engine ended, as its log shows.
struct EngineEnd {
  // The first failure after the engine last started or served. The processes of an engine die one
  // after the other. The front end, which prints last, knows least: "Engine core initialization
  // failed. See root cause above."
  EngineFailure cause;
  // The line in which the engine last served or started; else `lines_before`.
  uint64_t alive_until = 0;
  uint64_t last_line = 0;  // the last line that reports the end
};

// The failures that a log reports. Lines that quote requests do not count, nor do failures of a
// server that was told to end.
struct LogFailures {
  // The first failure, even if the engine survived it. It is an error without a traceback only if
  // the log has no other failure.
  std::optional<EngineFailure> first;
  // Set if the log says that the engine or one of its processes died, and it did not start again.
  // Also set if the log ends with a shell's "Killed", or with a traceback that ended a process. Not
  // set if the engine serves after the failure, nor for exceptions of its web server and its
  // threads. Once the engine serves, a traceback that does not begin in the engine's own code
  // counts as another program's, such as a client's that writes to the same log. In a log of
  // several engines: the end of the engine that ended first.
  std::optional<EngineEnd> end;
  // The line in which the engine was last ready to serve; failures before it belong to an earlier
  // start. 0: there is no such line, or the log is of several engines.
  uint64_t ready = 0;
};

// Finds the failures in a log, which it takes line by line. Its memory does not grow with the log.
class FailureReader {
 public:
  // `lines_before`: the number of lines in the log before the first one that it takes.
  explicit FailureReader(uint64_t lines_before = 0);
  ~FailureReader();
  void Take(const LogLine& line);
  // The line in which `engine` (LogLine::engine) last served or started; else `lines_before`.
  uint64_t AliveUntil(const std::string& engine) const;
  LogFailures Finish() const;

 private:
  class Follower;
  std::unique_ptr<Follower> follower_;
};

// Finds the failures in a whole log. Cost: one pass, which `stop` ends; memory: 1 MiB.
LogFailures ReadFailures(std::istream& log, const std::stop_token& stop = {});

}  // namespace tacho
