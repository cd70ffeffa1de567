#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// The candidate that the user probably means by `word`: the only one that begins with it, else the
// one with the most similar spelling; "" if none is similar.
std::string Closest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace tacho
