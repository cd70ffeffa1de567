#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// The documents of a YAML text as one JSON array. Plain scalars that read as a whole number, true,
// false or null are that, all others strings. Nothing where it is no YAML, for anchors with their
// aliases (which can blow up a small file; kubectl writes none), keys that are no scalars, and
// beyond 64 levels.
std::optional<std::string> JsonOfYaml(std::string_view text);

}  // namespace tacho
