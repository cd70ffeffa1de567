#pragma once

#include <string_view>

namespace tacho {

// What an engine's start does from this line of its log on: "loading the weights"; "" if the line
// begins nothing that is known (rules/starts.rules).
std::string_view StartPhaseOf(std::string_view line);

}  // namespace tacho
