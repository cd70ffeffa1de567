#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/engine.h"

namespace tacho {

// A release number: "0.5.16.post1" is {0, 5, 16, 1}; what stands behind '+' or "rc" is left out.
struct Version {
  std::vector<int> parts;
  auto operator<=>(const Version&) const = default;
};
// Nothing when the text does not begin with a number.
std::optional<Version> ParseVersion(std::string_view text);

// What holds for an engine of that version by rules/engines.rules; "" when no rule is for it. A
// version that cannot be read is taken as the newest.
std::string_view EngineRule(EngineKind kind, std::string_view version, std::string_view key);
// The same by the engine's name in the rules: "vllm", "sglang", "daemon".
std::string_view EngineRule(std::string_view engine, std::string_view version,
                            std::string_view key);
// The keys of an engine's rules that begin with `prefix`, without it, each once.
std::vector<std::string> RuleKeys(std::string_view engine, std::string_view prefix);

std::string_view NameOf(EngineKind kind);

}  // namespace tacho
