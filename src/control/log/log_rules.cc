#include "control/log/log_rules.h"

#include <algorithm>
#include <string>

#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view log_rules;
}
namespace {

std::string_view TakeField(std::string_view& line) {
  const size_t bar = line.find('|');
  const std::string_view field = line.substr(0, bar);
  line = bar == std::string_view::npos ? std::string_view{} : line.substr(bar + 1);
  return Trim(field);
}

// Reads words in the form "A & B ! C".
void ReadWords(std::string_view text, LogRule& rule) {
  std::vector<std::string_view>* into = &rule.words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(" & "), text.find(" ! "));
    into->push_back(text.substr(0, end));
    if (end == std::string_view::npos) return;
    into = text[end + 1] == '&' ? &rule.words : &rule.without;
    text.remove_prefix(end + 3);
  }
}

Result<void> ReadWhen(std::string_view text, LogRule& rule) {
  for (std::string_view word = TakeWord(text); !word.empty(); word = TakeWord(text)) {
    if (word == "profiling") {
      rule.when.profiling = true;
    } else if (word == "profiler") {
      rule.when.profiler = true;
    } else if (word == "starting") {
      rule.when.starting = true;
    } else if (word == "stopping") {
      rule.when.stopping = true;
    } else if (word == "cause") {
      rule.when.cause = true;
    } else if (word == "nsys") {
      rule.when.nsys = true;
    } else if (word == "gpu") {
      rule.when.gpu = true;
    } else if (word == "npu") {
      rule.when.npu = true;
    } else if (word == "code") {
      rule.by_code = true;
    } else if (word != "any") {
      return Fail(ErrorKind::kUsage, "unknown WHEN: " + std::string(word));
    }
  }
  return {};
}

Result<FindingId> IdNamed(std::string_view name) {
  for (size_t id = 0; id < static_cast<size_t>(FindingId::kCount); ++id)
    if (KindOf(static_cast<FindingId>(id)).id == name) return static_cast<FindingId>(id);
  return Fail(ErrorKind::kUsage, "no finding is named " + std::string(name));
}

Result<LogRule> ParseLogRule(std::string_view line) {
  LogRule rule{};
  std::string_view head = TakeField(line);
  TACHO_ASSIGN_OR_RETURN(rule.id, IdNamed(TakeWord(head)));
  rule.engine = TakeWord(head);
  const auto versions = ParseVersionRange(TakeWord(head));
  TACHO_RETURN_IF_ERROR(ReadWhen(head, rule));
  ReadWords(TakeField(line), rule);
  rule.meaning = TakeField(line);
  rule.remedy = Trim(line);
  if (!versions || rule.remedy.empty() || rule.words.empty() != rule.by_code)
    return Fail(ErrorKind::kUsage,
                "expected FINDING ENGINE FROM..TO WHEN | WORDS | MEANING | REMEDY");
  rule.versions = *versions;
  return rule;
}

}  // namespace

bool LogRule::Matches(std::string_view line, const LogPlace& place) const {
  const auto holds = [&](std::string_view part) { return line.find(part) != line.npos; };
  return !by_code && (!when.profiling || place.profiling) && (!when.profiler || place.profiler) &&
         (!when.starting || place.starting) && (!when.stopping || place.stopping) &&
         (!when.cause || place.cause) && (!when.nsys || place.nsys) && (!when.gpu || place.gpu) &&
         (!when.npu || place.npu) && std::ranges::all_of(words, holds) &&
         std::ranges::none_of(without, holds);
}

bool LogRule::IsFor(EngineKind kind, const std::optional<Version>& version) const {
  return (engine == "any" || kind == EngineKind::kUnknown || engine == NameOf(kind)) &&
         versions.Contains(version);
}

const std::vector<LogRule>& LogRules() {
  static const std::vector<LogRule> rules = [] {
    std::vector<LogRule> read;
    ReadBuiltInRules(embedded::log_rules, "rules/logs.rules", [&](auto line) -> Result<void> {
      TACHO_ASSIGN_OR_RETURN(LogRule rule, ParseLogRule(line));
      read.push_back(std::move(rule));
      return {};
    });
    return read;
  }();
  return rules;
}

}  // namespace tacho
