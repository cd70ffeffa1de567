#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/engine.h"

namespace tacho {

// A release number: "0.5.16.post1" is {0, 5, 16, 1}; text after '+' or "rc" is ignored.
struct Version {
  std::vector<int> parts;
  auto operator<=>(const Version&) const = default;
};
// nullopt if the text does not begin with a number. Anything may follow the numbers, because
// engines report versions in unforeseeable forms.
std::optional<Version> ParseVersion(std::string_view text);
// Whether a text from the user is a version as packages write it: "0.32", "v0.11.0rc1",
// "0.8.5.post1", "0.33.0.dev7+cu129".
bool IsVersion(std::string_view text);

// The range "FROM..TO" in rules: FROM is inside, TO is not, and both may be missing. An unreadable
// version counts as the newest.
struct VersionRange {
  std::optional<Version> from, before;
  [[nodiscard]] bool Contains(const std::optional<Version>& version) const;
};
// nullopt if the text has no "..".
std::optional<VersionRange> ParseVersionRange(std::string_view text);

// The value for the key in rules/engine_versions.rules for an engine of this version; "" if no rule
// fits. An unreadable version counts as the newest.
std::string_view EngineRule(EngineKind kind, std::string_view version, std::string_view key);
// EngineRule by the engine's name in the rules: "vllm", "sglang", "daemon".
std::string_view EngineRule(std::string_view engine, std::string_view version,
                            std::string_view key);
// The keys of an engine's rules that begin with `prefix`; returned without the prefix, each once.
std::vector<std::string> RuleKeys(std::string_view engine, std::string_view prefix);

std::string_view NameOf(EngineKind kind);

}  // namespace tacho
