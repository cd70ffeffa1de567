#include "control/live/known_faults.h"

#include <fmt/format.h>

#include "base/words.h"
#include "control/version.h"

namespace tacho {
namespace {

constexpr std::string_view kKnown = "known.";
// Tags in the versions of builds that have faults of their own.
constexpr std::string_view kTags[] = {"", "rocm", "cu118"};

}  // namespace

std::vector<Finding> CheckVersion(std::string_view name, std::string_view version) {
  std::vector<Finding> findings;
  if (!ParseVersion(version)) return findings;
  for (const std::string_view tag : kTags) {
    if (version.find(tag) == std::string_view::npos) continue;
    const std::string build = fmt::format("{}{}{}", name, tag.empty() ? "" : "-", tag);
    for (const std::string& key : RuleKeys(build, kKnown)) {
      const std::string_view rule = EngineRule(build, version, fmt::format("{}{}", kKnown, key));
      const std::optional<FindingId> id = FindingNamed(key);
      if (rule.empty() || !id) continue;
      const size_t bar = std::min(rule.find('|'), rule.size() - 1);
      findings.push_back({*id, fmt::format("{} {}", name, version),
                          std::string(Trim(rule.substr(0, bar))),
                          std::string(Trim(rule.substr(bar + 1)))});
    }
  }
  return findings;
}

}  // namespace tacho
