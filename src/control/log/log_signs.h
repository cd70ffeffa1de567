#pragma once

#include <bitset>
#include <cstdint>
#include <string_view>

// What the text of a line in an engine's log says about the engine's life: vLLM 0.8 to 0.32, SGLang
// 0.4 to 0.5.23, uvicorn, Python, the routers. The words are in rules/logs.rules.

namespace tacho {

inline constexpr std::string_view kTracebackHead = "Traceback (most recent call last):";

enum class LogSign : uint8_t {
  kStart,  // an engine starts
  kReady,
  kServes,  // it does a step, or answers
  kToldToEnd,
  kEnded,       // it ended when asked to
  kSurvived,    // a traceback follows, after which the process goes on
  kHarmless,    // like kSurvived, but several tracebacks follow
  kChained,     // the next traceback is of the same failure as the one before
  kCrash,       // a process crashed, and the line says why
  kDies,        // the engine, or a process of it, ended
  kFullMemory,  // may end one request only; others are still served
  kProfiler,    // the line concerns the profiler
  kFails,       // the line concerns the profiler, and reports a failure
  kRequest,     // the line holds what a client sent; it has no other sign
  kShell,       // the shell that started a process says how it ended: "Killed"
  kCount,
};
using LogSigns = std::bitset<static_cast<size_t>(LogSign::kCount)>;

// The signs in a line without indentation.
LogSigns SignsIn(std::string_view text);

// The phase of an engine's start that begins with this line of its log: "loading the weights"; ""
// if no known phase begins here.
std::string_view StartPhaseOf(std::string_view line);

// Whether uvicorn, the web server of both engines, wrote the line: "INFO:     127.0.0.1:5 - "GET
// /health HTTP/1.1" 200 OK".
bool IsOfUvicorn(std::string_view text);

// Whose code a traceback's line `  File "PATH", line N, in f` is in. kNobody for Python's own files
// and for all other lines.
enum class FrameOf { kNobody, kEngine, kClient, kOther };
FrameOf WhoseFrame(std::string_view text);

// Whether the line can end a traceback: "ValueError: ...", "torch.OutOfMemoryError: ...",
// "KeyboardInterrupt".
bool IsException(std::string_view text);

// Whether somebody ended the process with a signal, which raised this exception.
bool IsOfASignal(std::string_view exception);

// Where argparse's "error: ..." begins in "vllm serve: error: argument --port: ..."; npos in other
// lines, such as a compiler's "a.cu(12): error: ...".
size_t ComplaintAt(std::string_view text);

// Whether a router wrote the line: it names the Rust module ("smg::worker::manager: "), or the
// router's program.
bool IsOfRouter(std::string_view text);

}  // namespace tacho
