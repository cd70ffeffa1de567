#include "control/log/log_signs.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/words.h"
#include "control/log/log_rules.h"

namespace tacho {
namespace {

constexpr auto kShellWords =
    std::to_array<std::string_view>({"Killed", "Segmentation fault", "Aborted"});

// SGLang's router was renamed in November 2025, and again in 2026.
constexpr auto kRouters =
    std::to_array<std::string_view>({"vllm_router", "sglang_router", "sgl_model_gateway", "smg"});

// Parts of a file's path that show which program a traceback's frame belongs to. Python's own files
// do not show it, because a process may begin in them.
constexpr auto kPythonsOwn = std::to_array<std::string_view>(
    {"/runpy.py", "/multiprocessing/", "/asyncio/", "/concurrent/", "/threading.py"});
constexpr auto kPackages = std::to_array<std::string_view>({"/vllm/", "/sglang/"});
constexpr auto kPrograms = std::to_array<std::string_view>({"/bin/vllm", "/bin/sglang"});
// Both engines contain clients and tests.
constexpr auto kClients = std::to_array<std::string_view>({"/bench", "/test"});
constexpr auto kTests = std::to_array<std::string_view>({"/unittest/", "/_pytest/"});

// Whether a shell reports here that a program ended. Most shells print "Killed" or "Aborted (core
// dumped)". bash adds the command, which may be any that starts an engine: "run.sh: line 3:   123
// Killed      ./start".
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

LogSigns SignsIn(std::string_view text) {
  LogSigns signs;
  const auto set = [&](LogSign sign) { signs.set(static_cast<size_t>(sign)); };
  // Only a POST counts: routes that do not run the model answer 200 even while the engine hangs.
  if (IsOfUvicorn(text)) {
    if (text.find("\"POST /") != text.npos && text.find("HTTP/1.1\" 200") != text.npos)
      set(LogSign::kServes);
    return signs;
  }
  for (const auto& [sign, patterns] : TheLogTable().signs)
    if (patterns.Fit(text)) {
      set(sign);
      if (sign == LogSign::kRequest) return signs;
    }
  if (IsOfAShell(text)) set(LogSign::kShell);
  return signs;
}

std::string_view StartPhaseOf(std::string_view line) {
  for (const auto& [phase, patterns] : TheLogTable().phases)
    if (patterns.Fit(line)) return phase;
  return "";
}

bool IsOfUvicorn(std::string_view text) {
  return text.starts_with("INFO:     ") && text.find(" HTTP/1.1\" ") != text.npos;
}

bool IsOfRouter(std::string_view text) {
  return std::ranges::any_of(kRouters, [&](std::string_view name) {
    for (size_t at = text.find(name); at != text.npos; at = text.find(name, at + 1)) {
      if (at > 0 && text[at - 1] != ' ') continue;
      // Accepts longer names: "sglang_router_rs::", "smg_mesh::", "vllm_router: ".
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

}  // namespace tacho
