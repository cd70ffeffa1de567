#include "cli/options/parse.h"
#include "base/closest.h"
#include "base/parse_number.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>

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
// If the help is narrower than kNarrowHelp, texts go under the names, at kNarrowColumn.
constexpr size_t kNarrowHelp = 66, kNarrowColumn = 10;

bool IsList(const OptionRow& row) {
  return std::holds_alternative<std::vector<std::string>*>(row.target);
}

// The main name: "--out" of "-o,--out".
std::string MainName(const OptionRow& row) {
  for (std::string& name : row.Names())
    if (name.starts_with("--")) return std::move(name);
  return row.names;
}

// Lists words: "auto, always or never".
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
  // Suggests nothing for "-x": any two single letters are similar.
  const std::string nearest = word.size() > 2 ? Closest(word, all) : "";
  const bool takes_words = spec.usage.find("-- ") != std::string::npos;
  return fmt::format("unknown option {}{}", VisibleText(word),
                     !nearest.empty() ? fmt::format(" (did you mean {}?)", nearest)
                     : takes_words    ? ": what is not tacho's own stands after --"
                                      : "");
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

// The option and its value, "--out DIR", as they are written to a run folder.
std::string Written(const OptionRow& row, const std::string& value) {
  std::string word;
  const bool list = IsList(row) && !row.words;
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
  if (IsList(row) || known.empty() || std::find(known.begin(), known.end(), value) != known.end())
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
      return Usage(spec, fmt::format("{} takes a whole number from {} on, not '{}'", MainName(row),
                                     row.least, VisibleText(text)));
    }
    **target = value;
  }
  if (auto* const* target = std::get_if<std::optional<double>*>(&row.target)) {
    const auto value = ParseWhole<double>(text);
    if (!value || !(*value >= 0)) {
      return Usage(spec,
                   fmt::format("{} takes a number, not '{}'", MainName(row), VisibleText(text)));
    }
    **target = value;
  }
  if (auto* const* target = std::get_if<std::vector<std::string>*>(&row.target)) {
    if (row.words) {
      (*target)->push_back(text);
      return {};
    }
    // Refuses an empty list, which an unset variable gives: --fail-on "$GATES" would check nothing.
    if (text.find_first_not_of(", ") == std::string::npos)
      return Usage(spec, fmt::format("{} takes a value, not '{}'", MainName(row), text));
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      if (end > begin) (*target)->push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return {};
}

// The given options without a value, as they are written to a run folder.
std::string WrittenFlags(const CommandSpec& spec) {
  std::string written;
  for (const OptionGroup& group : spec.groups)
    for (const OptionRow& row : group.options)
      if (auto* const* target = std::get_if<bool*>(&row.target); target != nullptr && **target)
        written += " " + MainName(row);
  return written;
}

// Sorts arguments into options with their values and positionals.
class Sorter {
 public:
  Sorter(const CommandSpec& spec, const std::vector<std::string>& arguments)
      : spec_(spec), arguments_(arguments) {
    for (const OptionGroup& group : spec.groups)
      for (const OptionRow& row : group.options)
        for (std::string& name : row.Names()) rows_.emplace(std::move(name), &row);
    while (next_ < arguments_.size()) {
      const std::string& argument = arguments_[next_++];
      if (argument == "--") break;
      if (argument == "-h" || argument == "--help")
        asks_for_help_ = true;
      else if (argument.size() < 2 || argument[0] != '-')
        positionals_.push_back(argument);
      else if (argument[1] == '-')
        TakeLong(argument);
      else
        TakeShort(argument);
    }
    positionals_.insert(positionals_.end(), arguments_.begin() + static_cast<std::ptrdiff_t>(next_),
                        arguments_.end());
  }

  [[nodiscard]] bool asks_for_help() const { return asks_for_help_; }
  [[nodiscard]] const std::string& problem() const { return problem_; }  // the first; "": none
  [[nodiscard]] std::vector<std::string>& positionals() { return positionals_; }
  [[nodiscard]] const std::vector<std::string>* ValuesOf(const OptionRow& row) const {
    const auto found = values_.find(&row);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  [[nodiscard]] const OptionRow* Find(std::string_view name) const {
    const auto found = rows_.find(name);
    return found == rows_.end() ? nullptr : found->second;
  }
  void Complain(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  // Takes "--name" or "--name=value".
  void TakeLong(const std::string& argument) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const OptionRow* row = Find(name);
    if (row == nullptr) return Complain(UnknownOption(spec_, argument));
    if (bool* const* flag = std::get_if<bool*>(&row->target)) {
      if (equals != argument.npos) return Complain(name + " takes no value");
      **flag = true;
    } else if (equals != argument.npos) {
      Keep(*row, name, argument.substr(equals + 1));
    } else {
      TakeValue(*row, name);
    }
  }
  // Takes "-w", "-wq", "-o DIR", "-oDIR" or "-o=DIR".
  void TakeShort(const std::string& argument) {
    for (size_t at = 1; at < argument.size(); ++at) {
      const std::string name{'-', argument[at]};
      const OptionRow* row = Find(name);
      if (row == nullptr) return Complain(UnknownOption(spec_, at == 1 ? argument : name));
      if (bool* const* flag = std::get_if<bool*>(&row->target)) {
        **flag = true;
        continue;
      }
      const std::string rest = argument.substr(at + 1);
      if (rest.empty()) return TakeValue(*row, name);
      return Keep(*row, name, rest[0] == '=' ? rest.substr(1) : rest);
    }
  }
  [[nodiscard]] bool IsOption(const std::string& word) const {
    return word == "--" || word == "-h" || word == "--help" ||
           Find(word.substr(0, word.find('='))) != nullptr;
  }
  void TakeValue(const OptionRow& row, const std::string& name) {
    if (next_ == arguments_.size() || IsOption(arguments_[next_])) return WantsValue(row, name);
    values_[&row].push_back(arguments_[next_++]);
    while (row.words && next_ < arguments_.size() && !arguments_[next_].starts_with('-') &&
           arguments_[next_].find("://") == std::string::npos)
      values_[&row].push_back(arguments_[next_++]);
  }
  void Keep(const OptionRow& row, const std::string& name, std::string value) {
    if (value.empty()) return WantsValue(row, name);
    values_[&row].push_back(std::move(value));
  }
  void WantsValue(const OptionRow& row, const std::string& name) {
    Complain(fmt::format("{} needs a value: {}", name, row.value));
  }

  const CommandSpec& spec_;
  const std::vector<std::string>& arguments_;
  size_t next_ = 0;
  std::map<std::string, const OptionRow*, std::less<>> rows_;
  std::map<const OptionRow*, std::vector<std::string>> values_;
  std::vector<std::string> positionals_;
  bool asks_for_help_ = false;
  std::string problem_;
};

}  // namespace

Result<bool> ParseArguments(const CommandSpec& spec, const std::vector<std::string>& arguments) {
  Sorter sorted(spec, arguments);
  if (sorted.asks_for_help()) return true;
  if (!sorted.problem().empty()) return Usage(spec, sorted.problem());
  if (spec.positionals == nullptr && !sorted.positionals().empty())
    return Usage(
        spec, fmt::format("unexpected argument '{}'", VisibleText(sorted.positionals().front())));
  if (spec.positionals != nullptr) *spec.positionals = std::move(sorted.positionals());
  std::string written = WrittenFlags(spec);
  for (const OptionGroup& group : spec.groups) {
    for (const OptionRow& row : group.options) {
      const std::vector<std::string>* values = sorted.ValuesOf(row);
      if (values == nullptr) continue;
      // If an option is not a list, its last value counts.
      const std::span<const std::string> counting =
          IsList(row) ? std::span(*values) : std::span(*values).last(1);
      for (const std::string& value : counting) {
        TACHO_RETURN_IF_ERROR(Store(spec, row, value));
        written += Written(row, value);
      }
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
    // A command stays on one line, so that it can be copied.
    out += fmt::format("  {}\n", example.command);
    if (!example.shows.empty()) out += Wrap("      " + example.shows, width, 6) + "\n";
  }
  return out;
}

}  // namespace tacho
