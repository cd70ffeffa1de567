#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

namespace tacho {

// What ended an engine, or kept it from starting: the first failure in its log. The processes of an
// engine die one after the other, and the last to print, its front end, knows least: "Engine core
// initialization failed. See root cause above."
struct EngineFailure {
  std::string process;  // as the log names it: "VllmWorker-0 pid=123"; "" if it does not
  uint64_t line = 0;    // of the log, from 1
  std::string text;     // "ValueError: Unsupported profiler type for cpu: cuda.", at most 4 lines
  // Of its traceback, with those that it led to ("During handling of the above exception").
  uint64_t first_line = 0, last_line = 0;
};
// The exception of the first Python traceback, the complaint of Python's argument parser, the panic
// of a router or the first line that the engine calls an error, whatever comes first; a line that
// only announces a traceback gives that traceback's exception. nullopt without any. Cost: one pass.
// What fails after the server was told to end does not count. `lines_before`: of the log, if this
// is but its last part.
std::optional<EngineFailure> FirstFailure(std::string_view log, uint64_t lines_before = 0);

// Whether a log, or a line of one, says that the engine or one of its processes ended by a failure.
bool TellsOfDeath(std::string_view text);

// How the engine of a log ended.
struct EngineEnd {
  EngineFailure cause;
  uint64_t alive_until = 0;  // the line in which it last served or started; none: lines_before
  uint64_t last_line = 0;    // of those that tell of the end
};
// The first failure between the last sign of life and the words of death: an engine survives what
// failed before it served again, and an exception of its web server. Without such words Python's
// own traceback, after which nothing logs. nullopt: no sign of an end. Lines with requests are not
// read. Cost: one pass, which `stop` ends.
std::optional<EngineEnd> EndOfEngine(std::string_view log, uint64_t lines_before = 0,
                                     const std::stop_token& stop = {});

}  // namespace tacho
