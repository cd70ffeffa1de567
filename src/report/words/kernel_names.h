#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_style.h"

namespace tacho {

// The names to show for kernels of these names, none of them cut: the short name (classifier.h); if
// several kernels share it, the next longer form; in the end the name in the file. So two different
// names never look the same.
std::vector<std::string> ShownKernelNames(const std::vector<std::string_view>& names,
                                          const TextStyle& style);

// The width of a short name in a file.
inline constexpr size_t kShortName = 60;

}  // namespace tacho
