#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tacho {

// Names in a trace are somebody else's text. This makes it safe and honest to show: control
// characters, escape sequences and invisible or direction-changing code points become "\n", "\x1b",
// "\u202e"; bytes that are not UTF-8 become U+FFFD. Without `unicode` every code point beyond ASCII
// becomes "?".
std::string VisibleText(std::string_view text, bool unicode = true);

// Columns that `text` (visible, no escape sequences) takes on a terminal. Wide characters take two.
size_t DisplayWidth(std::string_view text);

// The mark for a part left out of a name or a path. Never "..": that is a folder's parent.
std::string_view ElisionMark(bool unicode);

// `text` cut to at most `width` columns: the middle is left out, because the ends of a name say
// most.
std::string FitText(std::string_view text, size_t width, bool unicode = true);

std::string PadRight(std::string_view text, size_t width);
std::string PadLeft(std::string_view text, size_t width);

// `text` cut into lines of at most `width` columns at its spaces; longer words are cut in the
// middle (FitText), because the ends of a path say most.
std::string Wrap(std::string_view text, size_t width, size_t indent_of_further_lines,
                 bool unicode = true);

}  // namespace tacho
