#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options/parse.h"

namespace tacho {

// One command of tacho. To add one: a new file with these functions, and a row in commands.cc.
struct Command {
  std::string_view name;
  std::string_view summary;
  // Returns the exit status. If it returns an error, it has printed nothing on standard output.
  Result<int> (*run)(const std::vector<std::string>& arguments);
  // The spec of the command, then those of its sub-commands. Do not parse with these specs: the
  // targets of their options no longer exist.
  std::vector<CommandSpec> (*specs)();
};

const std::vector<Command>& Commands();

// Runs a command line, given without the program's name. Answers --help and --version too. Returns
// the exit status.
int RunCommandLine(const std::vector<std::string>& arguments);

// Prints the error that ended the command line, also as JSON if --json is among the arguments.
// Returns the exit status.
int EndsWith(const Error& error, const std::vector<std::string>& arguments);

// nullptr if no command has that name.
const Command* FindCommand(std::string_view name);

// An exit status of tacho and its meaning.
struct ExitMeaning {
  int status;
  std::string_view meaning;
};
std::span<const ExitMeaning> ExitMeanings();

std::string_view TachoVersion();

}  // namespace tacho
