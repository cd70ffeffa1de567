#pragma once

#include <cstdint>
#include <optional>
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
};
// The exception of the first Python traceback, the complaint of Python's argument parser, the panic
// of a router or the first line that the engine calls an error, whatever comes first; a line that
// only announces a traceback gives that traceback's exception. nullopt without any. Cost: one pass.
// What fails after the server was told to end does not count. `lines_before`: of the log, if this
// is but its last part.
std::optional<EngineFailure> FirstFailure(std::string_view log, uint64_t lines_before = 0);

}  // namespace tacho
