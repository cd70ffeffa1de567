#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace tacho {

// A failure in an engine's log: the exception of a Python traceback, the complaint of Python's
// argument parser, a crash with its words, or a line that the engine calls an error.
// Of exceptions that led to one another it is the first; a line that only announces a traceback
// gives that traceback's exception.
struct EngineFailure {
  std::string process;  // as the log names it: "VllmWorker-0 pid=123"; "" if it does not
  uint64_t line = 0;    // of the log, from 1
  std::string text;     // "ValueError: Unsupported profiler type for cpu: cuda.", at most 4 lines
  // The last of the exceptions that it led to, which says what was tried; 0 and "" without.
  uint64_t led_line = 0;
  std::string led_to = {};
  // From the line that announces it, or its traceback, to the last of its message.
  uint64_t first_line = 0, last_line = 0;
};

// How the engine of a log ended.
struct EngineEnd {
  // The first failure after it last started or served: its processes die one after the other, and
  // the last to print, its front end, knows least: "Engine core initialization failed. See root
  // cause above."
  EngineFailure cause;
  uint64_t alive_until = 0;  // the line in which it last served or started; none: lines_before
  uint64_t last_line = 0;    // of those that tell of the end
};

// What a log tells of failures. Requests in it are not read, nor is what fails in a server that was
// told to end.
struct LogFailures {
  // Also one that was survived. Errors without a traceback come after all others.
  std::optional<EngineFailure> first;
  // Where words tell that the engine, or a process of it, died, and it did not start again after
  // them; or where the log ends with a process's own traceback or a shell's "Killed". An engine
  // survives what failed before it served again, and exceptions of its web server and its threads.
  // Once it serves, a traceback that does not begin in the engine's own code is another program's,
  // such as a client's that writes to the same place.
  // In a log of several engines: of the first that ended.
  std::optional<EngineEnd> end;
  // The line in which the engine was last ready to serve: what failed before was of an earlier
  // start. 0: none, or a log of several engines.
  uint64_t ready = 0;
};
// `lines_before`: of the log, if `log` is but its last part. Cost: one pass, which `stop` ends;
// memory does not grow with the log.
LogFailures ReadFailures(std::string_view log, uint64_t lines_before = 0,
                         const std::stop_token& stop = {});

// The same of a whole log, in 1 MiB of memory.
LogFailures ReadFailures(std::istream& log, const std::stop_token& stop = {});

}  // namespace tacho
