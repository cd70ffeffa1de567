#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tacho {

// Cuts the texts of one column to at most `width` columns as FitName does, but so that different
// cells never look the same: texts that would look the same are cut so that they show where they
// differ, and are numbered ("name~2") if that does not help. `texts[i]` is the uncut visible text
// of `cells[i]`; equal cells stay equal. Cost: O(n log n) in the length of all texts.
std::vector<std::string> FitDistinct(const std::vector<std::string>& cells,
                                     const std::vector<std::string>& texts, size_t width,
                                     bool unicode);

}  // namespace tacho
