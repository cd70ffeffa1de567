#include "cli/options/parse.h"
#include "base/closest.h"
#include "base/parse_number.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <deque>

#include "cli/screen/terminal.h"
#include "text/visible_text.h"

namespace tacho {

std::vector<std::string> OptionRow::Names() const {
  std::vector<std::string> list;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find(',', begin), names.size());
    list.push_back(names.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

namespace {

constexpr size_t kHelpColumn = 26;
constexpr size_t kNarrowHelp = 66, kNarrowColumn = 10;  // below it the texts go under the names

// The main name: "--out" of "-o,--out".
std::string MainName(const OptionRow& row) {
  for (std::string& name : row.Names())
    if (name.starts_with("--")) return std::move(name);
  return row.names;
}

// "auto, always or never"
std::string ListedOr(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  return text;
}

tl::unexpected<Error> Usage(const CommandSpec& spec, const std::string& problem) {
  return Fail(ErrorKind::kUsage, fmt::format("{}; see 'tacho {} --help'", problem, spec.name));
}

std::string UnknownOption(const CommandSpec& spec, const std::string& given) {
  std::vector<std::string> all = {"--help"};
  for (const OptionGroup& group : spec.groups) {
    for (const OptionRow& row : group.options) {
      for (std::string& name : row.Names()) all.push_back(std::move(name));
    }
  }
  const std::string word = given.substr(0, given.find('='));
  // All single letters are close to each other.
  const std::string nearest = word.size() > 2 ? Closest(word, all) : "";
  const bool takes_words = spec.usage.find("-- ") != std::string::npos;
  return fmt::format("unknown option {}{}", VisibleText(word),
                     !nearest.empty() ? fmt::format(" (did you mean {}?)", nearest)
                     : takes_words    ? ": what is not tacho's own stands after --"
                                      : "");
}

// CLI11's complaint has the option's name in it, and may have its value, which may be a secret.
std::string Misused(const CommandSpec& spec, std::string_view complaint) {
  constexpr std::string_view kBetween = " :=";
  while (!complaint.empty()) {
    const size_t end = std::min(complaint.find_first_of(kBetween), complaint.size());
    const std::string word(complaint.substr(0, end));
    complaint.remove_prefix(std::min(end + 1, complaint.size()));
    for (const OptionGroup& group : spec.groups) {
      for (const OptionRow& row : group.options) {
        const auto names = row.Names();
        if (std::find(names.begin(), names.end(), word) == names.end()) continue;
        return row.value.empty() ? word + " takes no value"
                                 : fmt::format("{} wants a value: {}", word, row.value);
      }
    }
  }
  return "the options cannot be understood";
}

// "  --top N                 what it does", the text wrapped under itself.
std::string HelpRow(const std::string& names, const std::string& value, const std::string& help,
                    size_t width) {
  const size_t column = width < kNarrowHelp ? kNarrowColumn : kHelpColumn;
  std::string left = (names.starts_with("--") ? "      " : "  ") + names;
  if (!value.empty()) left += " " + value;
  std::string out;
  if (left.size() + 2 > column) {
    out = left + "\n";
    left.clear();
  }
  out += PadRight(left, column);
  for (const char c : Wrap(help, width - column, 0)) {
    out += c;
    if (c == '\n') out += std::string(column, ' ');
  }
  return out + "\n";
}

// "--out DIR", as written to a run folder.
std::string Written(const OptionRow& row, const std::string& value) {
  std::string word;
  const bool list = std::holds_alternative<std::vector<std::string>*>(row.target) && !row.words;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = list ? std::min(value.find(',', begin), value.size()) : value.size();
    word += (begin > 0 ? "," : "") + WrittenWord(row.secret, value.substr(begin, end - begin));
    begin = end + 1;
  }
  return " " + MainName(row) + (value.starts_with('-') ? "=" : " ") + word;
}

std::string WrittenCommand(const CommandSpec& spec, const std::string& options) {
  std::string words;
  bool dash = false;
  for (const std::string& positional : *spec.positionals) {
    words += " " + WrittenWord(Secret::kUrl, positional);
    dash |= positional.starts_with('-');
  }
  const std::string head = "tacho " + spec.name;
  return dash ? head + options + " --" + words : head + words + options;
}

Result<void> CheckChoice(const CommandSpec& spec, const OptionRow& row, const std::string& value) {
  const auto& known = row.choices;
  const bool list = std::holds_alternative<std::vector<std::string>*>(row.target);
  if (list || known.empty() || std::find(known.begin(), known.end(), value) != known.end())
    return {};
  const std::string nearest = Closest(value, known);
  return Usage(
      spec, fmt::format("{} is {}, not '{}'{}", MainName(row), ListedOr(known), VisibleText(value),
                        nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
}

Result<void> Store(const CommandSpec& spec, const OptionRow& row, const std::string& text) {
  TACHO_RETURN_IF_ERROR(CheckChoice(spec, row, text));
  if (auto* const* target = std::get_if<std::string*>(&row.target)) **target = text;
  if (auto* const* target = std::get_if<std::optional<std::string>*>(&row.target)) **target = text;
  if (auto* const* target = std::get_if<std::optional<int64_t>*>(&row.target)) {
    const auto value = ParseWhole<int64_t>(text);
    if (!value || *value < row.least) {
      return Usage(spec, fmt::format("{} wants a whole number from {} on, not '{}'", MainName(row),
                                     row.least, VisibleText(text)));
    }
    **target = value;
  }
  if (auto* const* target = std::get_if<std::optional<double>*>(&row.target)) {
    const auto value = ParseWhole<double>(text);
    if (!value || !(*value >= 0)) {
      return Usage(spec,
                   fmt::format("{} wants a number, not '{}'", MainName(row), VisibleText(text)));
    }
    **target = value;
  }
  if (auto* const* target = std::get_if<std::vector<std::string>*>(&row.target)) {
    if (row.words) {
      (*target)->push_back(text);
      return {};
    }
    // Else an unset variable in a script would ask for nothing: --fail-on "$GATES".
    if (text.find_first_not_of(", ") == std::string::npos)
      return Usage(spec, fmt::format("{} wants a value, not '{}'", MainName(row), text));
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      if (end > begin) (*target)->push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return {};
}

// Puts the name of a list of words before each of them: "--goodput a b" as "--goodput a --goodput
// b".
std::vector<std::string> SpreadWords(const CommandSpec& spec,
                                     const std::vector<std::string>& arguments) {
  const auto takes_words = [&](const std::string& argument) {
    for (const OptionGroup& group : spec.groups) {
      for (const OptionRow& row : group.options) {
        if (!row.words) continue;
        const auto names = row.Names();
        if (std::find(names.begin(), names.end(), argument) != names.end()) return true;
      }
    }
    return false;
  };
  std::vector<std::string> spread;
  for (size_t i = 0; i < arguments.size(); ++i) {
    spread.push_back(arguments[i]);
    if (!takes_words(arguments[i])) continue;
    const std::string& name = arguments[i];
    if (i + 1 < arguments.size()) spread.push_back(arguments[++i]);
    while (i + 1 < arguments.size() && !arguments[i + 1].starts_with('-') &&
           arguments[i + 1].find("://") == std::string::npos) {
      spread.push_back(name);
      spread.push_back(arguments[++i]);
    }
  }
  return spread;
}

}  // namespace

namespace {

// The flags that were given, as they are written in a command.
std::string WrittenFlags(const CommandSpec& spec) {
  std::string written;
  for (const OptionGroup& group : spec.groups)
    for (const OptionRow& row : group.options)
      if (auto* const* target = std::get_if<bool*>(&row.target); target != nullptr && **target)
        written += " " + MainName(row);
  return written;
}

}  // namespace

Result<bool> ParseArguments(const CommandSpec& spec, const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  bool help = false;
  app.add_flag("-h,--help", help);
  std::deque<std::string> texts;
  std::vector<std::pair<const OptionRow*, CLI::Option*>> valued;
  for (const OptionGroup& group : spec.groups) {
    for (const OptionRow& row : group.options) {
      if (auto* const* target = std::get_if<bool*>(&row.target)) {
        app.add_flag(row.names, **target);
        continue;
      }
      CLI::Option* option = app.add_option(row.names, texts.emplace_back());
      const bool list = std::holds_alternative<std::vector<std::string>*>(row.target);
      option
          ->multi_option_policy(list ? CLI::MultiOptionPolicy::TakeAll
                                     : CLI::MultiOptionPolicy::TakeLast)
          ->allow_extra_args(false);
      valued.emplace_back(&row, option);
    }
  }
  // "--" is removed here, because CLI11 does not report what came after it.
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  std::vector<std::string> reversed =
      SpreadWords(spec, std::vector<std::string>(arguments.begin(), dashes));
  std::reverse(reversed.begin(), reversed.end());
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return Usage(spec, Misused(spec, error.what()));
  }
  if (help) return true;
  std::vector<std::string> positionals;
  for (const std::string& extra : app.remaining()) {
    if (extra.size() > 1 && extra.starts_with('-')) {
      return Usage(spec, UnknownOption(spec, extra));
    }
    positionals.push_back(extra);
  }
  if (dashes != arguments.end()) positionals.insert(positionals.end(), dashes + 1, arguments.end());
  if (spec.positionals == nullptr && !positionals.empty()) {
    return Usage(spec, fmt::format("unexpected argument '{}'", VisibleText(positionals.front())));
  }
  if (spec.positionals != nullptr) *spec.positionals = std::move(positionals);
  std::string written = WrittenFlags(spec);
  for (const auto& [row, option] : valued) {
    if (option->count() == 0) continue;
    const bool list = std::holds_alternative<std::vector<std::string>*>(row->target);
    const std::vector<std::string> values =
        list ? option->results() : std::vector<std::string>{option->as<std::string>()};
    for (const std::string& value : values) {
      TACHO_RETURN_IF_ERROR(Store(spec, *row, value));
      written += Written(*row, value);
    }
  }
  if (spec.command != nullptr) *spec.command = WrittenCommand(spec, written);
  return false;
}

std::string HelpText(const CommandSpec& spec) {
  return HelpText(spec, HelpWidth(SurroundingsOf(STDOUT_FILENO)));
}

std::string HelpText(const CommandSpec& spec, size_t width) {
  std::string out = Wrap(fmt::format("tacho {}: {}", spec.name, spec.summary), width, 4) + "\n\n" +
                    Wrap(fmt::format("usage: tacho {} {}", spec.name, spec.usage), width, 7) + "\n";
  if (!spec.description.empty()) out += "\n" + Wrap(spec.description, width, 0) + "\n";
  for (const OptionGroup& group : spec.groups) {
    out += "\n" + Wrap(group.title + ":", width, 2) + "\n";
    for (const OptionRow& row : group.options)
      out += HelpRow(fmt::format("{}", fmt::join(row.Names(), ", ")), row.value, row.help, width);
  }
  out += "\n" + HelpRow("-h, --help", "", "this text", width);
  if (!spec.examples.empty()) out += "\nexamples:\n";
  for (const CommandSpec::Example& example : spec.examples) {
    // A command stays on its line, to be copied.
    out += fmt::format("  {}\n", example.command);
    if (!example.shows.empty()) out += Wrap("      " + example.shows, width, 6) + "\n";
  }
  return out;
}

}  // namespace tacho
