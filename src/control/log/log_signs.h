#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>

// What the text of a line in an engine's log says about the life of the engine: for vLLM 0.8 to
// 0.32, SGLang 0.4 to 0.5.23, uvicorn, Python and the routers. The phrases are in rules/logs.rules.

namespace tacho {

inline constexpr std::string_view kTracebackHead = "Traceback (most recent call last):";

enum class LogSign : uint8_t {
  kStart,  // an engine starts
  kReady,
  kServes,  // it runs a step, or answers
  kToldToEnd,
  kEnded,       // it ended after it was told to
  kSurvived,    // a traceback follows, and the process survives it
  kHarmless,    // like kSurvived, but for several tracebacks
  kChained,     // the next traceback belongs to the same failure as the previous one
  kCrash,       // a process crashed, and the line says why
  kDies,        // the engine, or a process of it, has ended
  kFullMemory,  // out of memory: may end one request only, while others are still served
  kProfiler,    // the line concerns the profiler
  kFails,       // the line concerns the profiler, and reports a failure
  kRequest,     // the line quotes what a client sent; then it has no other sign
  kShell,       // a shell says how a process that it started ended: "Killed"
  kCount,
};
using LogSigns = std::bitset<static_cast<size_t>(LogSign::kCount)>;

// The signs in a line that is not indented.
LogSigns SignsIn(std::string_view text);

// The phase of an engine's start that this line of its log begins: "loading the weights"; "" if it
// begins no known phase.
std::string_view StartPhaseOf(std::string_view line);

// Whether uvicorn, the web server of both engines, wrote the line: "INFO:     127.0.0.1:5 - "GET
// /health HTTP/1.1" 200 OK".
bool IsOfUvicorn(std::string_view text);

// Who owns the code that a traceback's line `  File "PATH", line N, in f` refers to. kNobody for
// Python's own files and for all other lines.
enum class FrameOf { kNobody, kEngine, kClient, kOther };
FrameOf WhoseFrame(std::string_view text);

// Whether the line can be the last of a traceback: "ValueError: ...", "torch.OutOfMemoryError:
// ...", "KeyboardInterrupt".
bool IsException(std::string_view text);

// Whether the exception was raised by a signal with which somebody ended the process.
bool IsOfASignal(std::string_view exception);

// The position of argparse's "error: ..." in "vllm serve: error: argument --port: ..."; npos for
// other lines, such as a compiler's "a.cu(12): error: ...".
size_t ComplaintAt(std::string_view text);

// Whether a router wrote the line: it names the router's Rust module ("smg::worker::manager: ") or
// program.
bool IsOfRouter(std::string_view text);

}  // namespace tacho
