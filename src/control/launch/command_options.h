#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// An option of a command line: "--name value", "--name=value" or "--name" alone.
struct CommandOption {
  std::string name;                  // without the dashes, '-' for '_' up to the first dot
  std::optional<std::string> value;  // for a flag: the next word, if it is no option
};

// The options that begin with two dashes, in their order. This function does not know which options
// take a value, so a flag gets the next word as its value; callers ignore it.
std::vector<CommandOption> OptionsOf(const std::vector<std::string>& words);

// The last path element of a word: "vllm" of "/usr/bin/vllm".
std::string_view ProgramName(std::string_view word);

// Whether one word holds an engine's whole command, because it was quoted: "HF_TOKEN=... vllm serve
// m".
bool IsQuotedCommand(std::string_view word);

// A command line, as a user types it or a process has it. The assignments before the program
// ("NAME=value", also after "env") are kept apart from its words.
struct CommandLine {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // "NAME=value"
};
CommandLine SplitAssignments(const std::vector<std::string>& words);

}  // namespace tacho
