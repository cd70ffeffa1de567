#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tacho {

// Makes text from outside, such as names in a trace, safe to show. Control characters, escape
// sequences, and code points that are invisible or change the direction of text become "\n",
// "\x1b", "\u202e". Bytes that are not UTF-8 become U+FFFD. Without `unicode`, every code point
// beyond ASCII becomes "?".
std::string VisibleText(std::string_view text, bool unicode = true);

// How many columns `text` takes on a terminal. It must be visible text without escape sequences.
// Wide characters take two columns.
size_t DisplayWidth(std::string_view text);

// The mark for a part that is left out of a name or a path. It is never "..", which means the
// parent of a folder.
std::string_view ElisionMark(bool unicode);

// Cuts `text` to at most `width` columns. The middle is left out, because the ends of a name tell
// most.
std::string FitText(std::string_view text, size_t width, bool unicode = true);

std::string PadRight(std::string_view text, size_t width);
std::string PadLeft(std::string_view text, size_t width);

// Breaks `text` at its spaces into lines of at most `width` columns. A word longer than a line is
// cut in its middle (FitText), because the ends of a path tell most.
std::string Wrap(std::string_view text, size_t width, size_t indent_of_further_lines,
                 bool unicode = true);

}  // namespace tacho
