#include "launch/command_wrappers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string_view>

#include "base/find_program.h"
#include "control/launch/command_options.h"

namespace tacho {
namespace {

constexpr std::array<std::string_view, 12> kOtherEnvironments{
    "uv",     "uvx",    "conda", "mamba", "micromamba", "pixi",
    "poetry", "pipenv", "hatch", "pdm",   "srun",       "chroot"};
// Container programs: the first start the engine themselves; of the others, a daemon does.
constexpr std::array<std::string_view, 2> kContainersHere{"apptainer", "singularity"};
constexpr std::array<std::string_view, 4> kContainersElsewhere{"docker", "podman", "nerdctl",
                                                               "kubectl"};
constexpr std::array<std::string_view, 2> kTerminals{"tmux", "screen"};
constexpr std::array<std::string_view, 2> kEngines{"vllm", "sglang"};
constexpr std::array<std::string_view, 7> kNoServers{
    "bench", "chat", "complete", "collect-env", "run-batch", "generate", "version"};
constexpr std::array<std::string_view, 6> kShells{"sh", "bash", "dash", "ksh", "zsh", "fish"};

using WordSpan = std::span<const std::string>;

// Whether the word sets $PATH, where programs are looked for.
bool SetsPath(const std::string& word) { return word.starts_with("PATH="); }

bool IsSetting(const std::string& word) {
  return !IsQuotedCommand(word) && !SplitAssignments({word}).environment.empty();
}

// Whether the word names one of the programs, and is not the folder of a model with that name.
bool Names(const std::string& word, std::span<const std::string_view> programs) {
  return std::ranges::find(programs, ProgramName(word)) != programs.end() &&
         (word.find('/') == std::string::npos || IsProgram(word));
}

bool IsElsewhere(const std::string& word) {
  return Names(word, kContainersElsewhere) || Names(word, std::array<std::string_view, 1>{"ssh"});
}

// The words before the engine's program. If the engine's program is not among the words, returns
// the words before the first long option.
WordSpan WrappersOf(const std::vector<std::string>& words) {
  size_t end = EngineWord(words);
  if (end == words.size())
    end = static_cast<size_t>(
        std::ranges::find_if(words,
                             [](const std::string& word) { return word.starts_with("--"); }) -
        words.begin());
  return WordSpan(words).first(end);
}

// Whether the shell with these arguments takes a command as text: "-c", "-lc", "-o pipefail -c".
bool TakesText(WordSpan words) {
  bool is_value = false;
  for (const std::string& word : words) {
    if (!word.starts_with('-') && !is_value) return false;
    const bool is_short = word.starts_with('-') && !word.starts_with("--");
    if (is_short && word.find('c') != std::string::npos) return true;
    is_value = is_short && word.ends_with('o');
  }
  return false;
}

}  // namespace

std::vector<std::string> TakeSettings(std::vector<std::string>& words) {
  std::vector<std::string> settings;
  size_t taken = 0;
  for (; taken < words.size(); ++taken) {
    const std::string& word = words[taken];
    if (IsSetting(word))
      settings.push_back(word);
    else if (ProgramName(word) != "env" || taken + 1 == words.size() ||
             !IsSetting(words[taken + 1]))
      break;
  }
  // env looks for the program in the $PATH that it sets, where tacho does not look.
  if (taken > settings.size() && std::ranges::any_of(settings, SetsPath)) return {};
  words.erase(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(taken));
  return settings;
}

size_t EngineWord(const std::vector<std::string>& words) {
  size_t engine = words.size(), module = 0;
  for (size_t i = 1; i < words.size() && engine == words.size(); ++i) {
    const std::string_view before = ProgramName(words[i - 1]);
    if (words[i] == "serve" && (before == "vllm" || before == "sglang")) engine = i - 1;
    if (words[i] == "-m") module = i;
  }
  // The option -m counts only after a Python, because a wrapper may have it too: "numactl -m 0".
  const size_t end = engine < words.size() ? engine : module;
  for (size_t i = 0; i < end; ++i)
    if (ProgramName(words[i]).starts_with("python")) return i;
  return engine;
}

bool HasOtherEnvironment(const std::vector<std::string>& words) {
  return std::ranges::any_of(WrappersOf(words), [](const std::string& word) {
    return SetsPath(word) || Names(word, kOtherEnvironments) || Names(word, kContainersHere);
  });
}

bool RunsElsewhere(const std::vector<std::string>& words) {
  return std::ranges::any_of(WrappersOf(words), IsElsewhere);
}

bool IsContainer(std::string_view word) {
  const std::string_view name = ProgramName(word);
  return std::ranges::find(kContainersHere, name) != kContainersHere.end() ||
         std::ranges::find(kContainersElsewhere, name) != kContainersElsewhere.end();
}

Result<void> CheckWrappers(const std::vector<std::string>& words) {
  const std::string first = words.empty() ? "" : words.front();
  const WordSpan wrappers = WrappersOf(words);
  for (size_t i = 0; i < wrappers.size(); ++i) {
    const std::string& word = wrappers[i];
    if (IsElsewhere(word))
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: what tacho adds to the command would not reach the engine: "
                              "start it yourself, and record it: tacho record URL; tacho doctor "
                              "URL says what it needs",
                              word));
    if (Names(word, kTerminals))
      return Fail(ErrorKind::kUsage,
                  fmt::format("{}: its server would start the engine, and tacho could not end it: "
                              "leave it out, with --detach to have the engine in the background, "
                              "or run tacho in it",
                              word));
    if (Names(word, kEngines) && i + 1 < wrappers.size() &&
        std::ranges::find(kNoServers, wrappers[i + 1]) != kNoServers.end())
      return Fail(ErrorKind::kUsage, fmt::format("{} {} starts no server: give {} serve MODEL ...",
                                                 word, wrappers[i + 1], word));
    if (Names(word, kShells) && TakesText(WordSpan(words).subspan(i + 1)))
      return Fail(ErrorKind::kUsage,
                  fmt::format("{} -c: the options that tacho adds would not reach the engine: "
                              "give the command itself, without the shell",
                              word));
  }
  std::error_code failed;  // is also set if the name is too long
  const bool is_quoted = first.find(' ') != std::string::npos && !first.starts_with('-') &&
                         !std::filesystem::exists(first, failed);
  // The message does not show the command: it may hold a key.
  if (is_quoted || std::ranges::any_of(wrappers, IsQuotedCommand))
    return Fail(ErrorKind::kUsage, "the command is one word in quotes: leave out the quotes");
  return {};
}

}  // namespace tacho
