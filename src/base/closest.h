#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The only candidate that begins with `word`, else the one with the closest spelling; "" if no
// candidate is close.
std::string Closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tacho
