#include "control/log/failure_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "base/words.h"

namespace tacho {
namespace {

struct SaidBy {
  Says says;
  std::string_view words, without = {};
};
// The first that fits counts.
constexpr std::array kWords{
    SaidBy{Says::kStart, "vLLM API server version "},
    SaidBy{Says::kStart, "non-default args: "},
    SaidBy{Says::kStart, "server_args="},
    SaidBy{Says::kReady, "Application startup complete"},
    SaidBy{Says::kReady, "The server is fired up and ready"},
    SaidBy{Says::kServes, "Prefill batch"},
    SaidBy{Says::kServes, "Decode batch"},
    SaidBy{Says::kServes, "Profiler stopped."},
    SaidBy{Says::kServes, "Profiling done."},
    SaidBy{Says::kToldToEnd, "[shutdown] API server: shutdown triggered"},
    SaidBy{Says::kToldToEnd, "SIGTERM received. signum="},
    SaidBy{Says::kToldToEnd, "INFO:     Shutting down"},
    SaidBy{Says::kEnded, "Application shutdown complete"},
    SaidBy{Says::kEnded, "Finished server process ["},
    SaidBy{Says::kSurvived, "Exception in ASGI application"},
    SaidBy{Says::kSurvived, "Failed to merge profiles: "},
    SaidBy{Says::kSurvived, "Exception in thread "},
    SaidBy{Says::kSurvived, "Exception ignored in"},
    SaidBy{Says::kSurvived, "exception was never retrieved"},
    SaidBy{Says::kSurvived, "Exception in callback "},
    SaidBy{Says::kSurvived, "--- Logging error ---"},
    // SGLang sends itself a request before it listens (seen in 0.5.23).
    SaidBy{Says::kHarmless, "post-warmup freeze_gc failed"},
    SaidBy{Says::kChained, "During handling of the above exception, another exception occurred:"},
    SaidBy{Says::kChained, "The above exception was the direct cause of the following exception:"},
    SaidBy{Says::kCrash, "thread 'main' panicked at "},
    SaidBy{Says::kCrash, "terminate called after throwing"},
    SaidBy{Says::kCrash, "Fatal Python error: "},
    SaidBy{Says::kCrash, "Segfault encountered"},
    SaidBy{Says::kCrash, "engine core exited unexpectedly"},  // when killed; vLLM 0.32 says no more
    // "Watchdog timeout (", since December 2025 "Scheduler watchdog timeout (".
    SaidBy{Says::kCrash, "atchdog timeout (", "soft=True"},
    SaidBy{Says::kCrash, "scheduler is dead"},
};
constexpr std::array<std::string_view, 2> kMemory{"out of memory", "OutOfMemoryError"};
constexpr auto kEnds = std::to_array<std::string_view>({
    "died unexpectedly", " died, exit code: ", "is already dead, terminating",
    "EngineDeadError: ", "Executor failed", "encountered a fatal error",
    "EngineCore hit an exception", "Engine core initialization failed",
    "Engine process failed to start", "Got fatal signal from worker", "Scheduler hit an exception",
    "Initialization failed. warmup error", "Received sigquit", "It usually means one child failed",
    "Main process exited, code=",  // systemd
});
constexpr auto kShellWords = std::to_array<std::string_view>(
    {"Killed", "Segmentation fault", "Aborted", "Bus error", "Illegal instruction"});

// SGLang's router changed its name in November 2025, and again in 2026.
constexpr auto kRouters = std::to_array<std::string_view>(
    {"vllm_router", "sglang_router", "sgl_router", "sgl_model_gateway", "smg"});

// Parts of paths that show which program a frame belongs to. A process may begin in Python itself.
constexpr auto kPythonsOwn = std::to_array<std::string_view>(
    {"/runpy.py", "/multiprocessing/", "/asyncio/", "/concurrent/", "/threading.py"});
constexpr auto kPackages = std::to_array<std::string_view>({"/vllm/", "/sglang/"});
constexpr auto kPrograms = std::to_array<std::string_view>({"/bin/vllm", "/bin/sglang"});
// Both engines ship clients and tests.
constexpr auto kClients = std::to_array<std::string_view>({"/bench", "/test"});
constexpr auto kTests = std::to_array<std::string_view>({"/unittest/", "/_pytest/"});

bool HasOneOf(std::string_view text, std::span<const std::string_view> all) {
  return std::ranges::any_of(
      all, [&](std::string_view words) { return text.find(words) != std::string_view::npos; });
}

// Whether a shell reports the end of a program: most print "Killed", "Aborted (core dumped)". bash
// adds the command, which may be any that starts an engine:
// "run.sh: line 3:   123 Killed      ./start".
bool IsOfAShell(std::string_view text) {
  const size_t line = text.find(": line ");
  return std::ranges::any_of(kShellWords, [&](std::string_view word) {
    if (text.starts_with(word)) return text == word || text.substr(word.size()) == " (core dumped)";
    if (line == text.npos) return false;
    std::string_view rest = text.substr(line + std::string_view(": line ").size());
    const std::string_view number = TakeWord(rest), pid = TakeWord(rest);
    return number.ends_with(':') && !pid.empty() && std::ranges::all_of(pid, IsDigit) &&
           rest.starts_with(word) && rest.substr(word.size()).starts_with(' ');
  });
}

}  // namespace

bool IsException(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) != 0 &&
         std::ranges::all_of(name, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_';
         });
}

bool IsOfASignal(std::string_view exception) {
  return exception.starts_with("KeyboardInterrupt") || exception == "SystemExit" ||
         exception == "SystemExit: 0";
}

size_t ComplaintAt(std::string_view text) {
  constexpr std::array<std::string_view, 6> kArgparse{"vllm",        "sglang",        "api_server",
                                                      "__main__.py", "launch_server", "router"};
  constexpr std::array<std::string_view, 4> kComplaints{
      "argument ",
      "unrecognized arguments: ", "the following arguments are required: ", "ambiguous option: "};
  constexpr std::string_view kError = ": error: ";
  const size_t at = text.find(kError);
  if (at == text.npos) return at;
  const std::string_view program = text.substr(0, at), complaint = text.substr(at + kError.size());
  const bool is_name = std::ranges::all_of(program, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view(" ._-/").find(c) != std::string_view::npos;
  });
  const bool is_argparse =
      HasOneOf(program, kArgparse) || std::ranges::any_of(kComplaints, [&](std::string_view one) {
        return complaint.starts_with(one);
      });
  return is_name && is_argparse ? at + 2 : text.npos;
}

FrameOf WhoseFrame(std::string_view text) {
  constexpr std::string_view kFile = "  File \"";
  if (!text.starts_with(kFile)) return FrameOf::kNobody;
  std::string_view path = text.substr(kFile.size());
  path = path.substr(0, path.find('"'));
  if (path.starts_with('<') || HasOneOf(path, kPythonsOwn)) return FrameOf::kNobody;
  for (const std::string_view package : kPackages)
    if (const size_t at = path.rfind(package); at != path.npos)
      return HasOneOf(path.substr(at + package.size() - 1), kClients) ? FrameOf::kClient
                                                                      : FrameOf::kEngine;
  if (HasOneOf(path, kTests)) return FrameOf::kClient;
  return HasOneOf(path, kPrograms) ? FrameOf::kEngine : FrameOf::kOther;
}

Says WhatSays(std::string_view text) {
  if (IsOfAShell(text)) return Says::kShell;
  // Routes without a model step answer 200 also while the engine hangs.
  if (IsOfUvicorn(text))
    return text.find("\"POST /") != text.npos && text.find("HTTP/1.1\" 200") != text.npos
               ? Says::kServes
               : Says::kNothing;
  for (const SaidBy& one : kWords)
    if (text.find(one.words) != text.npos &&
        (one.without.empty() || text.find(one.without) == text.npos))
      return one.says;
  return Says::kNothing;
}

bool IsOfRouter(std::string_view text) {
  return std::ranges::any_of(kRouters, [&](std::string_view name) {
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      if (at > 0 && text[at - 1] != ' ') continue;
      // "sglang_router_rs::", "smg_mesh::", "vllm_router: ".
      std::string_view rest = text.substr(at + name.size());
      const size_t end = rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_");
      const std::string_view more = rest.substr(0, end);
      rest.remove_prefix(more.size());
      if ((more.empty() || more.starts_with('_')) &&
          (rest.starts_with("::") || (rest.starts_with(": ") && at > 0)))
        return true;
    }
    return false;
  });
}

bool TellsOfEnd(std::string_view text) {
  // -15: someone ended it by SIGTERM.
  return HasOneOf(text, kEnds) && text.find("exit code: -15") == text.npos;
}
bool TellsOfFullMemory(std::string_view text) { return HasOneOf(text, kMemory); }
bool TellsOfDeath(std::string_view text) { return TellsOfEnd(text) || TellsOfFullMemory(text); }

}  // namespace tacho
