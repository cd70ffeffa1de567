#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace tacho {

// Deeper than any engine's answer. What walks a value (a copy, dump) calls itself at each level, so
// a few kB of '[' from a server would end the program.
inline constexpr int kDeepestJson = 200;

// The JSON in `text`; a discarded value if it is none, or nests deeper than kDeepestJson. All JSON
// that this process did not write itself is read by these.
nlohmann::json ParseJson(std::string_view text);
nlohmann::ordered_json ParseOrderedJson(std::string_view text);  // keeps the order of the keys

}  // namespace tacho
