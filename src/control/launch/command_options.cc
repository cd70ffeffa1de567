#include "control/launch/command_options.h"

#include <algorithm>
#include <iterator>

#include "base/words.h"

namespace tacho {
namespace {

constexpr std::string_view kDashes = "--";

bool IsAssignment(std::string_view word) {
  const std::string_view name = word.substr(0, word.find('='));
  return name.size() < word.size() && !name.empty() && !IsDigit(name.front()) &&
         std::ranges::all_of(name, [](char c) {
           return c == '_' || IsDigit(c) || (AsciiLower(c) >= 'a' && AsciiLower(c) <= 'z');
         });
}

}  // namespace

std::vector<CommandOption> OptionsOf(const std::vector<std::string>& words) {
  std::vector<CommandOption> options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with(kDashes) || word == kDashes) continue;
    const size_t equals = std::min(word.find('='), word.size());
    CommandOption option{std::string(word.substr(2, equals - 2)), std::nullopt};
    const auto dot = std::ranges::find(option.name, '.');
    std::replace(option.name.begin(), dot, '_', '-');
    if (equals < word.size())
      option.value = word.substr(equals + 1);
    else if (i + 1 < words.size() && !words[i + 1].starts_with(kDashes))
      option.value = words[i + 1];
    options.push_back(std::move(option));
  }
  return options;
}

std::string_view ProgramName(std::string_view word) {
  const size_t slash = word.rfind('/');
  return slash == std::string_view::npos ? word : word.substr(slash + 1);
}

CommandLine SplitAssignments(const std::vector<std::string>& words) {
  CommandLine line;
  size_t begin = 0;
  while (begin < words.size() && (IsAssignment(words[begin]) || words[begin] == "export" ||
                                  ProgramName(words[begin]) == "env")) {
    if (IsAssignment(words[begin])) line.environment.push_back(words[begin]);
    ++begin;
  }
  line.words.assign(words.begin() + static_cast<std::ptrdiff_t>(begin), words.end());
  return line;
}

bool IsQuotedCommand(std::string_view word) {
  std::vector<std::string> words;
  // Ignores assignments, whose values may name an engine, as in "LOGGERS={\"vllm\": \"info\"}".
  for (const std::string& one : SplitAssignments(WordsIn(word)).words) {
    std::string text = one;  // the shell's special characters count as blanks
    std::ranges::replace_if(
        text, [](char c) { return std::string_view("'\"();&|").find(c) != std::string_view::npos; },
        ' ');
    std::ranges::move(WordsIn(text), std::back_inserter(words));
  }
  if (words.size() < 2) return false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view name = ProgramName(words[i]);
    if (name.starts_with("vllm.entrypoints") || name.starts_with("sglang.launch_server"))
      return true;
    const bool is_engine = (name == "vllm" || name == "sglang") && i + 1 < words.size();
    if (is_engine && (i == 0 || words[i + 1] == "serve")) return true;
  }
  return false;
}

}  // namespace tacho
