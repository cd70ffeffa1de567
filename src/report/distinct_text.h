#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/text_style.h"

namespace tacho {

// What tells kernels apart where there is little room for their names.

// How kernels of these names are shown, each at full length: the short name (classifier.h), where
// that is of several kernels the next longer one, at last the one in the file. So two different
// names are never shown alike.
std::vector<std::string> ShownKernelNames(const std::vector<std::string_view>& names,
                                          const TextStyle& style);

// The texts of one column, each at most `width` columns wide as FitName makes it, but so that two
// different cells never look the same: those that would are cut where they differ, and numbered
// ("name~2") where that does not help. `texts[i]` is how `cells[i]` looks at full length; equal
// cells stay equal. Cost: O(n log n) in the length of all texts.
std::vector<std::string> FitDistinct(const std::vector<std::string>& cells,
                                     const std::vector<std::string>& texts, size_t width,
                                     bool unicode);

// The width of a short name in a file.
inline constexpr size_t kShortName = 60;

}  // namespace tacho
