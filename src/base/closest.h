#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The one candidate that begins with `word`, else the one that is spelt most like it; "" when none
// is close.
std::string Closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tacho
