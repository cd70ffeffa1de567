#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tacho {

// Cuts a C++ name ("ns::f<int, g<3>>") to at most `width` columns where it matters least: first
// namespaces are left out, then template arguments (numbers before words), then letters from the
// middle of the name. Each part left out is replaced by a mark; brackets of arguments stay paired.
// Other names are cut as FitText does. Cost: O(n), for deeply nested names O(n * width).
std::string FitName(std::string_view text, size_t width, bool unicode);

// The same, but keeps the part from byte `from` on, where the name differs from other names.
std::string FitNameFrom(std::string_view text, size_t from, size_t width, bool unicode);

// The start of the word that contains byte `at` of `text`. A value such as "(Enum)1" counts as one
// word.
size_t TokenBegin(std::string_view text, size_t at);

}  // namespace tacho
