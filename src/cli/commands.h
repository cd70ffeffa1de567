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
  // Gives the exit status. An error: nothing was printed on standard output.
  Result<int> (*run)(const std::vector<std::string>& arguments);
  std::string (*help)();
};

const std::vector<Command>& Commands();

// Everything behind the program's name: picks the command, answers --help and --version. Gives the
// exit status.
int RunCommandLine(const std::vector<std::string>& arguments);

// Complains of an error that ended the command line; prints it as JSON too where --json is among
// the arguments. Gives the exit status.
int EndsWith(const Error& error, const std::vector<std::string>& arguments);

std::string_view TachoVersion();

}  // namespace tacho
