#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "control/log/log_line.h"

namespace tacho {

// A failure in an engine's log: the exception of a Python traceback, the complaint of Python's
// argument parser, a crash message, or a line that the engine calls an error. In a chain of
// exceptions it is the first. If a line only announces a traceback, it is that traceback's
// exception.
struct EngineFailure {
  std::string process;  // its name in the log: "VllmWorker-0 pid=123"; "" if it has none
  uint64_t line = 0;    // its number in the log, from 1
  std::string text;     // "ValueError: Unsupported profiler type for cpu: cuda.", at most 4 lines
  // The last exception that it led to, which says what was tried; 0 and "" if it led to none.
  uint64_t led_line = 0;
  std::string led_to = {};
  // From the line that announces the failure, or its traceback, to the last line of its message.
  uint64_t first_line = 0, last_line = 0;
};

// How the engine of a log ended.
struct EngineEnd {
  // The first failure after the engine last started or served. Its processes die one after the
  // other, and the last to print, its front end, knows least: "Engine core initialization failed.
  // See root cause above."
  EngineFailure cause;
  uint64_t alive_until = 0;  // the line in which it last served or started; else `lines_before`
  uint64_t last_line = 0;    // the last line that reports the end
};

// The failures that a log reports. Skips requests in the log, and failures of a server that was
// asked to end.
struct LogFailures {
  // The first failure, also one that the engine survived. An error without a traceback counts only
  // if there is no other failure.
  std::optional<EngineFailure> first;
  // Set if the log says that the engine, or a process of it, died, and the engine did not start
  // again afterwards; or if the log ends with a process's own traceback or a shell's "Killed". Not
  // set for failures after which the engine serves again, and for exceptions of its web server and
  // its threads. Once the engine serves, a traceback that does not begin in the engine's own code
  // belongs to another program, such as a client that writes to the same log. In a log of several
  // engines: the end of the first that ended.
  std::optional<EngineEnd> end;
  // The line in which the engine was last ready to serve: failures before it belong to an earlier
  // start. 0: no such line, or a log of several engines.
  uint64_t ready = 0;
};

// Follows the failures of a log, line by line. Memory does not grow with the log.
class FailureReader {
 public:
  // `lines_before`: the number of lines before the first that it takes.
  explicit FailureReader(uint64_t lines_before = 0);
  ~FailureReader();
  void Take(const LogLine& line);
  // The line in which an engine, by LogLine::engine, last served or started; else `lines_before`.
  uint64_t AliveUntil(const std::string& engine) const;
  LogFailures Finish() const;

 private:
  class Follower;
  std::unique_ptr<Follower> follower_;
};

// The failures of a whole log. Cost: one pass, which `stop` ends; memory: 1 MiB.
LogFailures ReadFailures(std::istream& log, const std::stop_token& stop = {});

}  // namespace tacho
