#include "control/version.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "base/parse_number.h"
#include "base/rule_lines.h"
#include "control/engine_type.h"

namespace tacho {
namespace embedded {
extern const std::string_view engine_rules;
}
namespace {

struct Rule {
  std::string_view engine;
  VersionRange versions;
  std::string_view key, value;
};

Result<Rule> ParseRule(std::string_view line) {
  Rule rule;
  rule.engine = TakeWord(line);
  const auto range = ParseVersionRange(TakeWord(line));
  rule.key = TakeWord(line);
  rule.value = line;
  if (!range || rule.value.empty())
    return Fail(ErrorKind::kUsage, "expected ENGINE FROM..TO KEY VALUE");
  rule.versions = *range;
  return rule;
}

constexpr std::string_view kLight = "{light}", kLightKeys = "preset.light.config.";

// The profiler configuration of the preset "light", for the first version that the rule `of`
// covers.
std::string LightConfig(const std::vector<Rule>& rules, const Rule& of) {
  std::string config;
  for (const Rule& rule : rules) {
    if (rule.engine != of.engine || !rule.key.starts_with(kLightKeys) ||
        !rule.versions.Contains(of.versions.from))
      continue;
    const std::string value(rule.value == "{traces}" ? "/path" : rule.value);
    const bool is_json = nlohmann::json::accept(value);
    config +=
        fmt::format("{}\"{}\":{}", config.empty() ? "" : ",", rule.key.substr(kLightKeys.size()),
                    is_json ? value : nlohmann::json(value).dump());
  }
  return "{" + config + "}";
}

// Keeps the text until the program ends, as long as the rules themselves.
std::string_view Kept(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text));
}

const std::vector<Rule>& Rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> read;
    ReadBuiltInRules(embedded::engine_rules, "rules/engine_versions.rules",
                     [&](auto line) -> Result<void> {
                       TACHO_ASSIGN_OR_RETURN(Rule rule, ParseRule(line));
                       read.push_back(std::move(rule));
                       return {};
                     });
    for (Rule& rule : read)
      if (const size_t at = rule.value.find(kLight); at != rule.value.npos)
        rule.value = Kept(fmt::format("{}{}{}", rule.value.substr(0, at), LightConfig(read, rule),
                                      rule.value.substr(at + kLight.size())));
    return read;
  }();
  return rules;
}

}  // namespace

std::optional<Version> ParseVersion(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  Version version;
  while (true) {
    const auto part = TakeNumber<int>(text);
    if (!part) break;
    version.parts.push_back(*part);
    if (text.starts_with(".post")) {
      text.remove_prefix(5);
    } else if (text.starts_with('.')) {
      text.remove_prefix(1);
    } else {
      break;
    }
  }
  if (version.parts.empty()) return std::nullopt;
  // Drops zeros at the end: 0.32 is 0.32.0.
  while (version.parts.size() > 1 && version.parts.back() == 0) version.parts.pop_back();
  return version;
}

bool IsVersion(std::string_view text) {
  static const std::regex kVersion(
      R"(v?\d+(\.\d+)+((a|b|rc)\d+)?(\.post\d+)?(\.dev\d+)?(\+[\w.]+)?)");
  // A longer text could make the regex exhaust the stack.
  return text.size() <= 100 && std::regex_match(text.begin(), text.end(), kVersion);
}

bool VersionRange::Contains(const std::optional<Version>& version) const {
  if (version && from && *version < *from) return false;
  return !before || (version && *version < *before);
}

std::optional<VersionRange> ParseVersionRange(std::string_view text) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  return VersionRange{ParseVersion(text.substr(0, dots)), ParseVersion(text.substr(dots + 2))};
}

std::string_view NameOf(EngineKind kind) { return TypeOf(kind).name(); }

std::string_view EngineRule(EngineKind kind, std::string_view version, std::string_view key) {
  return EngineRule(NameOf(kind), version, key);
}

std::string_view EngineRule(std::string_view engine, std::string_view version,
                            std::string_view key) {
  const std::optional<Version> known = ParseVersion(version);
  for (const Rule& rule : Rules()) {
    if (rule.engine == engine && rule.key == key && rule.versions.Contains(known))
      return rule.value;
  }
  return "";
}

std::vector<std::string> RuleKeys(std::string_view engine, std::string_view prefix) {
  std::vector<std::string> keys;
  for (const Rule& rule : Rules()) {
    if (rule.engine != engine || !rule.key.starts_with(prefix)) continue;
    std::string key(rule.key.substr(prefix.size()));
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(std::move(key));
  }
  return keys;
}

}  // namespace tacho
