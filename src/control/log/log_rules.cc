#include "control/log/log_rules.h"

#include <algorithm>
#include <string>

#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view log_rules;
}
namespace {

struct NamedPlace {
  std::string_view name;
  bool LogPlace::*is_there;
};
constexpr NamedPlace kPlaces[] = {{"profiling", &LogPlace::profiling},
                                  {"profiler", &LogPlace::profiler},
                                  {"starting", &LogPlace::starting},
                                  {"stopping", &LogPlace::stopping},
                                  {"cause", &LogPlace::cause},
                                  {"nsys", &LogPlace::nsys},
                                  {"gpu", &LogPlace::gpu},
                                  {"npu", &LogPlace::npu}};

// Reads "A & B ! C".
LogPattern PatternOf(std::string_view text) {
  LogPattern pattern;
  std::vector<std::string_view>* into = &pattern.words;
  for (text = Trim(text); !text.empty();) {
    const size_t end = std::min(text.find(" & "), text.find(" ! "));
    into->push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    into = text[end + 1] == '&' ? &pattern.words : &pattern.without;
    text.remove_prefix(end + 3);
  }
  return pattern;
}

Result<FindingId> IdNamed(std::string_view name) {
  for (size_t id = 0; id < static_cast<size_t>(FindingId::kCount); ++id)
    if (KindOf(static_cast<FindingId>(id)).id == name) return static_cast<FindingId>(id);
  return Fail(ErrorKind::kUsage, "no finding is named " + std::string(name));
}

// "FINDING WHEN | MEANING"
Result<LogRule> ParseHead(std::string_view line) {
  LogRule rule{};
  const size_t bar = line.find(" | ");
  if (bar == line.npos) return Fail(ErrorKind::kUsage, "expected FINDING WHEN | MEANING");
  rule.meaning = line.substr(bar + 3);
  std::string_view head = line.substr(0, bar);
  TACHO_ASSIGN_OR_RETURN(rule.id, IdNamed(TakeWord(head)));
  for (std::string_view word = TakeWord(head); !word.empty(); word = TakeWord(head)) {
    const auto* const place = std::ranges::find(kPlaces, word, &NamedPlace::name);
    if (place != std::end(kPlaces))
      rule.when.*place->is_there = true;
    else if (word == "code")
      rule.by_code = true;
    else
      return Fail(ErrorKind::kUsage, "unknown WHEN: " + std::string(word));
  }
  return rule;
}

// "ENGINE RANGE | REMEDY", "REMEDY"
Result<LogRule::Remedy> ParseRemedy(std::string_view line) {
  LogRule::Remedy remedy{{}, {}, Trim(line)};
  if (const size_t bar = line.find(" | "); bar != line.npos) {
    remedy.text = line.substr(bar + 3);
    std::string_view head = line.substr(0, bar);
    remedy.engine = TakeWord(head);
    const auto versions = ParseVersionRange(Trim(head).empty() ? ".." : Trim(head));
    if (!versions) return Fail(ErrorKind::kUsage, "expected > ENGINE FROM..TO | REMEDY");
    remedy.versions = *versions;
  }
  return remedy;
}

Result<void> ReadLine(std::string_view line, std::vector<LogRule>& rules) {
  if (line.starts_with("- ") && !rules.empty()) {
    for (line.remove_prefix(2); !line.empty();) {
      const size_t bar = line.find(" | ");
      rules.back().patterns.push_back(PatternOf(line.substr(0, bar)));
      line.remove_prefix(bar == line.npos ? line.size() : bar + 3);
    }
  } else if (line.starts_with("> ") && !rules.empty()) {
    TACHO_ASSIGN_OR_RETURN(LogRule::Remedy remedy, ParseRemedy(line.substr(2)));
    rules.back().remedies.push_back(remedy);
  } else {
    TACHO_ASSIGN_OR_RETURN(LogRule rule, ParseHead(line));
    rules.push_back(std::move(rule));
  }
  return {};
}

}  // namespace

bool LogPattern::Fits(std::string_view line) const {
  const auto holds = [&](std::string_view part) { return line.find(part) != line.npos; };
  return std::ranges::all_of(words, holds) && std::ranges::none_of(without, holds);
}

bool LogRule::Matches(std::string_view line, const LogPlace& place) const {
  return std::ranges::all_of(
             kPlaces,
             [&](const auto& one) { return !(when.*one.is_there) || place.*one.is_there; }) &&
         std::ranges::any_of(patterns, [&](const LogPattern& one) { return one.Fits(line); });
}

const LogRule::Remedy* LogRule::RemedyFor(EngineKind kind,
                                          const std::optional<Version>& version) const {
  const auto found = std::ranges::find_if(remedies, [&](const Remedy& one) {
    return (one.engine.empty() || kind == EngineKind::kUnknown || one.engine == NameOf(kind)) &&
           one.versions.Contains(version);
  });
  return found == remedies.end() ? nullptr : &*found;
}

const std::vector<LogRule>& LogRules() {
  static const std::vector<LogRule> rules = [] {
    std::vector<LogRule> read;
    ReadBuiltInRules(embedded::log_rules, "rules/logs.rules",
                     [&](auto line) { return ReadLine(line, read); });
    return read;
  }();
  return rules;
}

}  // namespace tacho
