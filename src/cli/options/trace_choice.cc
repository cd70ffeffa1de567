#include "cli/options/trace_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse_number.h"
#include "text/shell_word.h"
#include "text/visible_text.h"

namespace tacho {

Result<std::vector<int64_t>> RanksAskedFor(const std::vector<std::string>& texts,
                                           std::string_view command) {
  std::vector<int64_t> ranks;
  for (const std::string& text : texts) {
    const auto rank = ParseWhole<int64_t>(text);
    if (!rank || *rank < 0) {
      return Fail(ErrorKind::kUsage,
                  fmt::format("--rank takes whole numbers from 0 on, not '{}'; see 'tacho {} "
                              "--help'",
                              VisibleText(text), command));
    }
    ranks.push_back(*rank);
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

OptionRow TraceArguments::KeepSecrets() {
  return {"--keep-secrets", "",
          "keys, tokens and passwords that the trace holds as they are; else * stands in place of "
          "each of their characters",
          &keep_secrets};
}

Result<TraceChoice> ChoiceOf(const TraceArguments& arguments, std::string_view command) {
  TraceChoice choice;
  choice.paths = arguments.paths;
  choice.keep_secrets = arguments.keep_secrets;
  TACHO_ASSIGN_OR_RETURN(choice.ranks, RanksAskedFor(arguments.rank, command));
  const bool one_place = choice.paths.size() == 1 && choice.paths[0] != "-";
  choice.session = arguments.session.value_or(one_place ? "latest" : "all");
  if (choice.session == "all") choice.session.clear();
  return choice;
}

std::string CommandPaths(const TraceArguments& arguments) {
  std::string words;
  for (const std::string& path : arguments.paths) {
    if (path == "-") return "";
    words += (words.empty() ? "" : " ") + ShellWord(path);
  }
  if (!arguments.rank.empty()) words += fmt::format(" --rank {}", fmt::join(arguments.rank, ","));
  if (arguments.session) words += " --session " + ShellWord(*arguments.session);
  return VisibleText(words) == words ? words : "";
}

}  // namespace tacho
