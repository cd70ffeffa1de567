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

constexpr std::string_view kSigns[] = {"start",       "ready",    "serves",  "told-to-end", "ended",
                                       "survived",    "harmless", "chained", "crash",       "dies",
                                       "full-memory", "profiler", "fails",   "request"};
static_assert(std::size(kSigns) == static_cast<size_t>(LogSign::kShell));

// Reads a pattern, "A & B ! C": the line holds A and B, but not C.
LogPatterns::Pattern PatternOf(std::string_view text) {
  LogPatterns::Pattern pattern;
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

// Reads "FINDING WHEN | MEANING".
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

// Reads "ENGINE RANGE | REMEDY" or "REMEDY".
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

// Reads the table from its lines.
class TableReader {
 public:
  Result<void> Take(std::string_view line) {
    if (line.starts_with("- ") && patterns_ != nullptr) {
      for (line.remove_prefix(2); !line.empty();) {
        const size_t bar = line.find(" | ");
        patterns_->patterns.push_back(PatternOf(line.substr(0, bar)));
        line.remove_prefix(bar == line.npos ? line.size() : bar + 3);
      }
    } else if (line.starts_with("> ") && !table.findings.empty()) {
      TACHO_ASSIGN_OR_RETURN(LogRule::Remedy remedy, ParseRemedy(line.substr(2)));
      table.findings.back().remedies.push_back(remedy);
    } else if (line.starts_with("says ")) {
      const auto* const sign = std::ranges::find(kSigns, line.substr(5));
      if (sign == std::end(kSigns)) return Fail(ErrorKind::kUsage, "unknown sign");
      patterns_ =
          &table.signs.emplace_back(static_cast<LogSign>(sign - kSigns), LogPatterns{}).second;
    } else if (line.starts_with("phase ")) {
      patterns_ = &table.phases.emplace_back(line.substr(6), LogPatterns{}).second;
    } else {
      TACHO_ASSIGN_OR_RETURN(LogRule rule, ParseHead(line));
      patterns_ = &table.findings.emplace_back(std::move(rule)).patterns;
    }
    return {};
  }

  LogTable table;

 private:
  LogPatterns* patterns_ = nullptr;  // of the last head that was read
};

}  // namespace

bool LogPatterns::Fit(std::string_view line) const {
  const auto holds = [&](std::string_view part) { return line.find(part) != line.npos; };
  return std::ranges::any_of(patterns, [&](const Pattern& one) {
    return std::ranges::all_of(one.words, holds) && std::ranges::none_of(one.without, holds);
  });
}

bool LogRule::Matches(std::string_view line, const LogPlace& place) const {
  return std::ranges::all_of(
             kPlaces,
             [&](const auto& one) { return !(when.*one.is_there) || place.*one.is_there; }) &&
         patterns.Fit(line);
}

const LogRule::Remedy* LogRule::RemedyFor(EngineKind kind,
                                          const std::optional<Version>& version) const {
  const auto found = std::ranges::find_if(remedies, [&](const Remedy& one) {
    return (one.engine.empty() || kind == EngineKind::kUnknown || one.engine == NameOf(kind)) &&
           one.versions.Contains(version);
  });
  return found == remedies.end() ? nullptr : &*found;
}

const LogTable& TheLogTable() {
  static const LogTable read = [] {
    TableReader reader;
    ReadBuiltInRules(embedded::log_rules, "rules/logs.rules",
                     [&](auto line) { return reader.Take(line); });
    return std::move(reader.table);
  }();
  return read;
}

}  // namespace tacho
