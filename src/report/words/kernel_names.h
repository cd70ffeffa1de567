#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_style.h"

namespace tacho {

// How kernels of these names are shown, each at full length: the short name (classifier.h), where
// that is of several kernels the next longer one, at last the one in the file. So two different
// names never look the same.
std::vector<std::string> ShownKernelNames(const std::vector<std::string_view>& names,
                                          const TextStyle& style);

// The width of a short name in a file.
inline constexpr size_t kShortName = 60;

}  // namespace tacho
