#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tacho {

// The texts of one column, each at most `width` columns wide as FitName makes it, but so that two
// different cells never look the same: those that would are cut where they differ, and numbered
// ("name~2") where that does not help. `texts[i]` is how `cells[i]` looks at full length; equal
// cells stay equal. Cost: O(n log n) in the length of all texts.
std::vector<std::string> FitDistinct(const std::vector<std::string>& cells,
                                     const std::vector<std::string>& texts, size_t width,
                                     bool unicode);

}  // namespace tacho
