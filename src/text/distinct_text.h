#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tacho {

// Cuts the texts of one column to at most `width` columns of the screen, as FitName does, but never
// so that two different cells look the same. Texts that would look the same are cut so that the
// place where they differ is shown; if that does not help, they are numbered ("name~2"). `texts[i]`
// is the uncut visible text of `cells[i]`. Equal cells look equal. Cost: O(n log n) in the length
// of all texts.
std::vector<std::string> FitDistinct(const std::vector<std::string>& cells,
                                     const std::vector<std::string>& texts, size_t width,
                                     bool unicode);

}  // namespace tacho
