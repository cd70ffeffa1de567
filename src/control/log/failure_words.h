#pragma once

#include <string_view>

#include "control/log/log_line.h"

// What a line's text in an engine's log says about failures: vLLM 0.8 to 0.32, SGLang 0.4 to
// 0.5.23, uvicorn, Python, the routers.

namespace tacho {

inline constexpr std::string_view kTracebackHead = "Traceback (most recent call last):";

enum class Says {
  kNothing,
  kStart,  // an engine starts
  kReady,
  kServes,  // it does a step, or answers
  kToldToEnd,
  kEnded,     // it ended, as it was told to
  kSurvived,  // a traceback follows, after which the process goes on
  kHarmless,  // like kSurvived, but several tracebacks follow
  kChained,   // the traceback that follows is of the same failure as the one before
  kCrash,     // a process crashed, and the line says why
  kShell,     // the shell that started a process says how it ended: "Killed"
};
// For lines without indentation only: a traceback's frames say nothing.
Says WhatSays(std::string_view text);

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

// Whether the line says that the engine, or a process of it, ended.
bool TellsOfEnd(std::string_view text);
// Whether the line says that memory was full. This may end one request only; others are still
// served.
bool TellsOfFullMemory(std::string_view text);
bool TellsOfDeath(std::string_view text);  // either of the two

}  // namespace tacho
