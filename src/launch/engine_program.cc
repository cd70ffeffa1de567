#include "launch/engine_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/find_program.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "control/engine_type.h"
#include "control/launch/launch_checks.h"
#include "control/version.h"
#include "launch/command_wrappers.h"
#include "text/shell_word.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kAnswersWithin{30'000};
constexpr std::chrono::milliseconds kEndsWithin{1'000};

bool IsPython(const std::string& path) {
  return fs::path(path).filename().string().starts_with("python");
}

// The path of the program that `word` names: an executable file, or a program in $PATH. "" for any
// other word.
std::string ProgramNamed(const std::string& word) {
  if (word.find('/') != std::string::npos) return IsProgram(word) ? word : "";
  const std::vector<std::string> found = ProgramsInPath(word);
  return found.empty() || word.starts_with('-') ? "" : found.front();
}

std::string FirstInPath(std::string_view name) {
  const std::vector<std::string> found = ProgramsInPath(name);
  return found.empty() ? "" : found.front();
}

// The command that runs the engine as a Python module, which takes the model as an option.
std::vector<std::string> AsModule(EngineKind kind, const std::string& python,
                                  const std::vector<std::string>& arguments) {
  const LaunchWords& engine = *TypeOf(kind).Launch();
  std::vector<std::string> command{python, "-m", std::string(engine.module)};
  if (!arguments.empty() && !arguments.front().starts_with('-'))
    command.emplace_back(engine.model_option);
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

tl::unexpected<Error> NotInstalled(EngineKind kind, const std::string& where) {
  return Fail(ErrorKind::kUsage,
              fmt::format("{} is not installed{}: name the Python that has it (--python "
                          "/path/to/env/bin/python), or give the whole command after --",
                          NameOf(kind), where));
}

// The error for a --python that names another program, such as an engine's script.
tl::unexpected<Error> NoPython(const std::string& program) {
  std::string python = PythonOfScript(program);
  for (const char* const name : {"python", "python3"})
    if (const fs::path beside = fs::path(program).parent_path() / name; IsProgram(beside.string()))
      python = beside.string();
  return Fail(
      ErrorKind::kUsage,
      fmt::format("--python {}: it is not a Python interpreter: give {}", ShellWord(program),
                  python.empty() ? "the one that has the engine" : ShellWord(python)));
}

// The Python that a whole command runs, perhaps after wrappers ("numactl -N 0 vllm serve"): the
// engine's program itself, or the Python that its script names. "" if there is none, or if the
// command changes the environment.
std::string PythonOf(const std::vector<std::string>& command) {
  if (HasOtherEnvironment(command)) return "";
  const std::string program = ProgramNamed(command[EngineWord(command) % command.size()]);
  return IsPython(program) ? program : PythonOfScript(program);
}

}  // namespace

std::optional<std::string> OptionValue(const std::vector<std::string>& words,
                                       const std::vector<std::string_view>& names) {
  std::optional<std::string> value;
  for (size_t i = 0; i < words.size(); ++i) {
    for (const std::string_view name : names) {
      const std::string_view word = words[i];
      if (word == name && i + 1 < words.size()) value = words[i + 1];
      if (word.starts_with(name) && word.substr(name.size()).starts_with('='))
        value = word.substr(name.size() + 1);
    }
  }
  return value;
}

std::string PythonOfScript(const std::string& path) {
  std::ifstream file(path);
  std::string first, second;
  std::getline(file, first);
  std::getline(file, second);
  if (!first.starts_with("#!")) return "";
  std::string_view words = std::string_view(first).substr(2);
  std::string program(TakeWord(words));
  if (program.ends_with("/env")) program = FirstInPath(TakeWord(words));
  // If the path is too long for "#!", the line is: '''exec' /path/python "$0" "$@"
  constexpr std::string_view kExec = "'''exec' ";
  if (program == "/bin/sh" && second.starts_with(kExec)) {
    words = std::string_view(second).substr(kExec.size());
    program = TakeWord(words);
    std::erase(program, '"');
  }
  return IsPython(program) ? program : "";
}

Result<EngineProgram> FindEngineProgram(EngineKind kind, const std::string& python,
                                        const std::vector<std::string>& arguments) {
  TACHO_RETURN_IF_ERROR(CheckWrappers(arguments));
  const auto word = arguments.begin() + static_cast<std::ptrdiff_t>(EngineWord(arguments));
  const EngineKind named = EngineOf({word, arguments.end()});
  if (IsKnown(named) && named != kind)
    return Fail(ErrorKind::kUsage,
                fmt::format("the command starts {}: tacho launch {} -- ..., or tacho record "
                            "--launch {} -- ...",
                            NameOf(named), NameOf(named), NameOf(named)));
  std::vector<std::string> rest = arguments;
  // Takes "vllm serve MODEL" as the engine's own arguments, to run them with --python or with the
  // engine that is found here.
  if (rest.size() > 1 && rest[0] == NameOf(kind) && rest[1] == "serve" &&
      (!python.empty() || ProgramNamed(rest[0]).empty()))
    rest.erase(rest.begin());
  if (!rest.empty() && rest.front() == "serve") rest.erase(rest.begin());
  const bool is_whole =
      !rest.empty() && !ProgramNamed(rest.front()).empty() && !fs::is_directory(rest.front());
  const bool is_python = !rest.empty() && rest.front().starts_with("python") &&
                         rest.front().find('/') == std::string::npos;
  if (!is_whole && EngineWord(rest) < rest.size() && (python.empty() || !is_python))
    return Fail(ErrorKind::kUsage,
                fmt::format("{}: there is no such program", ShellWord(rest.front())));
  if (!python.empty()) {
    const std::string program = ProgramNamed(python);
    if (program.empty())
      return Fail(ErrorKind::kUsage, fmt::format("--python {}: there is no such program", python));
    if (!IsPython(program) && !PythonOfScript(program).empty()) return NoPython(program);
    if (is_python) {
      rest.front() = program;
      return EngineProgram{rest, program};
    }
    if (is_whole)
      return Fail(ErrorKind::kUsage,
                  fmt::format("{} after -- begins a whole command, which has a Python of its own: "
                              "leave out --python, or give the engine's arguments alone",
                              ShellWord(rest.front())));
    return EngineProgram{AsModule(kind, program, rest), program};
  }
  if (is_whole) return EngineProgram{rest, PythonOf(rest)};
  const std::string_view own = TypeOf(kind).Launch()->program;
  if (const std::string program = own.empty() ? "" : FirstInPath(own); !program.empty()) {
    std::vector<std::string> command{program, "serve"};
    command.insert(command.end(), rest.begin(), rest.end());
    return EngineProgram{std::move(command), PythonOfScript(program)};
  }
  const std::string found = FirstInPath("python3");
  if (found.empty())
    return NotInstalled(kind, own.empty()
                                  ? " ($PATH has no python3)"
                                  : fmt::format(" ($PATH has neither {} nor python3)", own));
  return EngineProgram{AsModule(kind, found, rest), found};
}

Result<std::string> AskPackageVersion(const std::string& python,
                                      const std::vector<std::string>& packages,
                                      const std::stop_token& stop) {
  const std::string code = fmt::format(
      "import importlib.metadata as m\n"
      "for name in '{}'.split():\n"
      "    try:\n"
      "        print(m.version(name)); break\n"
      "    except m.PackageNotFoundError: pass\n",
      fmt::join(packages, " "));
  TACHO_ASSIGN_OR_RETURN(const std::string printed, OutputOf({.arguments = {python, "-c", code},
                                                              .patience = kAnswersWithin,
                                                              .grace = kEndsWithin,
                                                              .stop = stop},
                                                             4096));
  return std::string(Trim(printed));
}

Result<std::string> AskEngineVersion(EngineKind kind, const std::string& python,
                                     const std::stop_token& stop) {
  if (python.empty()) return "";
  // The packages of builds for CPUs have other names.
  const std::string name(NameOf(kind));
  const auto version = AskPackageVersion(python, {name, name + "-cpu"}, stop);
  if (!version && !IsPython(python)) return NoPython(python);
  if (!version) return "";
  if (version->empty()) return NotInstalled(kind, " for " + python);
  return *version;
}

}  // namespace tacho
