#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The candidate that is spelt most like `word`, "" when none is close.
std::string Closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tacho
