#pragma once

#include <string_view>

namespace tacho {

// The phase of an engine's start that begins with this line of its log: "loading the weights"; ""
// if no known phase begins here (rules/starts.rules).
std::string_view StartPhaseOf(std::string_view line);

}  // namespace tacho
