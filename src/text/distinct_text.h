#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tacho {

// Cuts the texts of one column to at most `width` columns as FitName does, but so that different
// cells never look the same: texts that would are cut where they differ, and numbered ("name~2") if
// that does not help. `texts[i]` is how `cells[i]` looks at full length; equal cells stay equal.
// Cost: O(n log n) in the length of all texts.
std::vector<std::string> FitDistinct(const std::vector<std::string>& cells,
                                     const std::vector<std::string>& texts, size_t width,
                                     bool unicode);

}  // namespace tacho
