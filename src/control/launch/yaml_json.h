#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// The documents of a YAML text as one JSON array. Plain scalars that look like a whole number,
// true, false or null become numbers, booleans or null; all others become strings. nullopt for
// invalid YAML, for anchors and aliases (which can make a small file huge; kubectl does not write
// them), for keys that are not scalars, and for more than 64 levels.
std::optional<std::string> JsonOfYaml(std::string_view text);

}  // namespace tacho
