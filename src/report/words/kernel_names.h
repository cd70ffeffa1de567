#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_style.h"

namespace tacho {

// The names to show for kernels, not cut to any width: short names (classifier.h), or demangled
// ones if `style.whole_names` is set. Different kernels that share a name get the next longer form,
// and at last the name in the file, so that two of them never look the same.
std::vector<std::string> ShownKernelNames(const std::vector<std::string_view>& names,
                                          const TextStyle& style);

// Short names in files are cut to this width.
inline constexpr size_t kShortName = 60;

}  // namespace tacho
