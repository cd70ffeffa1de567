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
  kEnded,     // as it was told to
  kSurvived,  // a traceback follows, after which the process goes on
  kHarmless,  // the same, and several follow
  kChained,   // the traceback that follows is of the same failure as the one before
  kCrash,     // of a process, with why
  kShell,     // the shell that started a process says how it ended: "Killed"
};
// Of lines at the margin: a traceback's frames say nothing.
Says WhatSays(std::string_view text);

// Whose program the line of a traceback names, `  File "PATH", line N, in f`. Python's own files
// and all other lines are nobody's.
enum class FrameOf { kNobody, kEngine, kClient, kOther };
FrameOf WhoseFrame(std::string_view text);

// "ValueError: ...", "torch.OutOfMemoryError: ...", "KeyboardInterrupt": what ends a traceback.
bool IsException(std::string_view text);

// An exception with which somebody's signal ends a process.
bool IsOfASignal(std::string_view exception);

// Where argparse's "error: ..." begins in "vllm serve: error: argument --port: ..."; npos
// elsewhere, as in a compiler's "a.cu(12): error: ...".
size_t ComplaintAt(std::string_view text);

// A router's own line: the Rust module that wrote it ("smg::worker::manager: "), or its program.
bool IsOfRouter(std::string_view text);

// The engine, or a process of it, ended.
bool TellsOfEnd(std::string_view text);
// Memory was full: a request may lack it, and others are served.
bool TellsOfFullMemory(std::string_view text);
bool TellsOfDeath(std::string_view text);  // one of both

}  // namespace tacho
