#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tacho {

// One command of tacho. To add one: a file of its own with these functions, and a row in
// commands.cc.
struct Command {
  std::string_view name;
  std::string_view summary;
  // Returns the exit status. An error: nothing was printed on standard output.
  Result<int> (*run)(const std::vector<std::string>& arguments);
  std::string (*help)();
};

const std::vector<Command>& Commands();

// Runs the command line after the program's name; answers --help and --version. Returns the exit
// status.
int RunCommandLine(const std::vector<std::string>& arguments);

// Prints the error that ended the command line, also as JSON if --json is among the arguments.
// Returns the exit status.
int EndsWith(const Error& error, const std::vector<std::string>& arguments);

std::string_view TachoVersion();

}  // namespace tacho
