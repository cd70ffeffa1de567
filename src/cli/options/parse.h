#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/closest.h"
#include "base/result.h"
#include "cli/options/secret.h"

namespace tacho {

// The target of an option's value. An option with a vector accepts several values, separated by
// commas, and may be given more than once. With OptionRow::words it accepts instead all words up to
// the next option or URL, as Python's argparse does; commas are then part of the words.
using OptionTarget =
    std::variant<bool*, std::string*, std::optional<std::string>*, std::optional<int64_t>*,
                 std::optional<double>*, std::vector<std::string>*>;

// One option of a command. The same row feeds the parser, the help, the man page and the
// completion.
struct OptionRow {
  std::string names;  // "-w,--wide"
  // Name of the value, "" for a switch. Completion offers files for FILE and PATH, folders for DIR.
  std::string value;
  std::string help;
  OptionTarget target;
  int64_t least = 0;   // the least allowed whole number
  bool words = false;  // for a list: a list of words, see OptionTarget
  Secret secret = Secret::kNone;
  // The only allowed values; empty: any value. Not checked for a list.
  std::vector<std::string> choices = {};
  // Returns values that the completion offers, with their meanings; nullptr: no values.
  std::map<std::string, std::string> (*offers)() = nullptr;

  OptionRow OneOf(std::vector<std::string> values) && {
    choices = std::move(values);
    return std::move(*this);
  }
  OptionRow Offering(std::map<std::string, std::string> (*values)()) && {
    offers = values;
    return std::move(*this);
  }
  // The single names: "-o", "--out".
  [[nodiscard]] std::vector<std::string> Names() const;
};
// The `name` of each row, to be used as `choices`.
template <typename Rows>
std::vector<std::string> NamesOf(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}
struct OptionGroup {
  std::string title;
  std::vector<OptionRow> options;
};

// A command, for the parser, the help, the man page and the completion.
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
  // If set, receives the command rebuilt from the parsed values, without secrets, to be stored and
  // run again. All positionals must then be URLs or files.
  std::string* command = nullptr;
  std::vector<Example> examples;
  std::vector<std::string> words = {};  // the first argument may be one of these, or a file
  // Returns the arguments that completion offers; nullptr: completion offers files, except for a
  // word that begins a URL.
  std::vector<std::string> (*names)() = nullptr;
};

// Reads `arguments` (without the command's name) into the targets of `spec`. Returns true if help
// was requested; then nothing was read. kUsage: invalid arguments; the message for an unknown
// option names the nearest one.
Result<bool> ParseArguments(const CommandSpec& spec, const std::vector<std::string>& arguments);

// The help of a command, as wide as the terminal or COLUMNS says (cli/screen/terminal.h).
std::string HelpText(const CommandSpec& spec);
std::string HelpText(const CommandSpec& spec, size_t width);

}  // namespace tacho
