#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// One command of tacho. To add one: a file of its own with these three functions, and a row in
// commands.cc.
struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(const std::vector<std::string>& arguments);  // gives the exit status
  std::string (*help)();
};

const std::vector<Command>& Commands();

// Everything behind the program's name: picks the command, answers --help and --version. Gives the
// exit status.
int RunCommandLine(const std::vector<std::string>& arguments);

std::string_view TachoVersion();

}  // namespace tacho
