#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tacho {

// A C++ name ("ns::f<int, g<3>>") cut to at most `width` columns where it matters least: first
// namespaces go, then template arguments (numbers before words), then letters from the middle of
// the name. A mark stands for each part left out, and the brackets of arguments stay paired. Other
// names are cut as FitText cuts them. Cost: O(n), for deeply nested names O(n * width).
std::string FitName(std::string_view text, size_t width, bool unicode);

// The same, but shows the part from byte `from` on, where the name differs from other names.
std::string FitNameFrom(std::string_view text, size_t from, size_t width, bool unicode);

// The beginning of the word or of the value "(Enum)1" that byte `at` of `text` lies in.
size_t TokenBegin(std::string_view text, size_t at);

}  // namespace tacho
