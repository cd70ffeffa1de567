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
  // Returns the exit status. An error: nothing was printed on standard output.
  Result<int> (*run)(const std::vector<std::string>& arguments);
  // The command, then its sub-commands. For reading only: the targets of their options no longer
  // exist.
  std::vector<CommandSpec> (*specs)();
};

const std::vector<Command>& Commands();

// Runs the command line after the program's name; answers --help and --version. Returns the exit
// status.
int RunCommandLine(const std::vector<std::string>& arguments);

// Prints the error that ended the command line, also as JSON if --json is among the arguments.
// Returns the exit status.
int EndsWith(const Error& error, const std::vector<std::string>& arguments);

// nullptr if no command has that name.
const Command* FindCommand(std::string_view name);

// All that tacho returns to the shell: status and meaning.
struct ExitMeaning {
  int status;
  std::string_view meaning;
};
std::span<const ExitMeaning> ExitMeanings();

std::string_view TachoVersion();

}  // namespace tacho
