#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/closest.h"
#include "base/result.h"
#include "cli/secret.h"

namespace tacho {

// Where the value of an option goes. A list takes values with commas between them, and may be given
// more than once; a list of words takes all that follow up to the next option or URL, as Python's
// argparse does, and leaves their commas alone.
using OptionTarget =
    std::variant<bool*, std::string*, std::optional<std::string>*, std::optional<int64_t>*,
                 std::optional<double>*, std::vector<std::string>*>;

// One option of a command. The same row feeds the parser and the help.
struct OptionRow {
  std::string names;  // "-w,--wide"
  std::string value;  // name of the value, "" for a switch
  std::string help;
  OptionTarget target;
  int64_t least = 0;   // of a whole number
  bool words = false;  // of a list: a list of words
  Secret secret = Secret::kNone;
};
struct OptionGroup {
  std::string title;
  std::vector<OptionRow> options;
};

// A command as the command line and the help know it.
struct CommandSpec {
  struct Example {
    std::string command, shows;
  };
  std::string name;
  std::string summary;  // one line
  std::string usage;    // "PATH... [options]"
  std::string description;
  std::vector<OptionGroup> groups;
  std::vector<std::string>* positionals = nullptr;
  // Where the command goes as it was understood, to be kept and run again: without secrets, made of
  // what the options got. Positionals are addresses or files then.
  std::string* command = nullptr;
  std::vector<Example> examples;
};

// Reads `arguments` (without the command's name) into the targets of `spec`. True: help was asked
// for, and nothing else matters. Fails with kUsage, with the nearest option for an unknown one.
Result<bool> ParseArguments(const CommandSpec& spec, const std::vector<std::string>& arguments);

std::string HelpText(const CommandSpec& spec);

}  // namespace tacho
