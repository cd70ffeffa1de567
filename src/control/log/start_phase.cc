#include "control/log/start_phase.h"

#include <algorithm>
#include <vector>

#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view start_rules;
}
namespace {

struct StartRule {
  std::vector<std::string_view> words;
  std::string_view phase;
};

Result<StartRule> ParseStartRule(std::string_view line) {
  StartRule rule;
  const size_t bar = line.find('|');
  std::string_view words = Trim(line.substr(0, bar));
  if (bar != line.npos) rule.phase = Trim(line.substr(bar + 1));
  if (words.empty() || rule.phase.empty()) return Fail(ErrorKind::kUsage, "expected WORDS | PHASE");
  for (size_t end = words.find(" & "); end != words.npos; end = words.find(" & ")) {
    rule.words.push_back(words.substr(0, end));
    words.remove_prefix(end + 3);
  }
  rule.words.push_back(words);
  return rule;
}

const std::vector<StartRule>& StartRules() {
  static const std::vector<StartRule> rules = [] {
    std::vector<StartRule> read;
    ReadBuiltInRules(embedded::start_rules, "rules/starts.rules", [&](auto line) -> Result<void> {
      TACHO_ASSIGN_OR_RETURN(StartRule rule, ParseStartRule(line));
      read.push_back(std::move(rule));
      return {};
    });
    return read;
  }();
  return rules;
}

}  // namespace

std::string_view StartPhaseOf(std::string_view line) {
  for (const StartRule& rule : StartRules())
    if (std::ranges::all_of(rule.words, [&](auto part) { return line.find(part) != line.npos; }))
      return rule.phase;
  return "";
}

}  // namespace tacho
