#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// An option of a command line: "--name value", "--name=value" or "--name" alone.
struct CommandOption {
  std::string name;                  // without the dashes; each '_' up to the first dot becomes '-'
  std::optional<std::string> value;  // for a flag: the next word, if that is not an option
};

// The options that begin with two dashes, in their order. The function does not know which options
// take a value. So a flag, too, gets the next word as its value, unless that word is an option;
// callers must ignore a flag's value.
std::vector<CommandOption> OptionsOf(const std::vector<std::string>& words);

// The last path element of a word: "vllm" for "/usr/bin/vllm".
std::string_view ProgramName(std::string_view word);

// Whether the word holds the whole command of an engine, because the command was quoted:
// "HF_TOKEN=... vllm serve m".
bool IsQuotedCommand(std::string_view word);

// A command line, from a user or from a process. The assignments before the program ("NAME=value",
// also after "env") are kept apart from the words.
struct CommandLine {
  std::vector<std::string> words;
  std::vector<std::string> environment;  // "NAME=value"
};
CommandLine SplitAssignments(const std::vector<std::string>& words);

}  // namespace tacho
