#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace tacho {

// The deepest nesting that is accepted; no engine's answer is deeper. Copying or writing a value
// recurses at each level, so without this limit a few kB of '[' from a server would crash the
// program.
inline constexpr int kDeepestJson = 200;

// Parse `text`. The value is discarded if `text` is not JSON or nests deeper than kDeepestJson. Use
// these functions for all JSON that this process did not write itself.
nlohmann::json ParseJson(std::string_view text);
nlohmann::ordered_json ParseOrderedJson(std::string_view text);  // keeps the order of the keys

// The member of that name; a null value if `object` is no object or has no such member.
const nlohmann::json& JsonMember(const nlohmann::json& object, std::string_view key);

}  // namespace tacho
