#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/text_style.h"

namespace tacho {

enum class ColorChoice { kAuto, kAlways, kNever };
Result<ColorChoice> ParseColor(std::string_view text);

// What the environment says about an output. Gathered once, so that the functions below are pure.
struct Surroundings {
  bool is_tty = false;
  size_t columns = 0;            // of the terminal; 0: unknown
  std::string columns_variable;  // COLUMNS
  std::string no_color, clicolor_force, term;
  std::string locale;  // the first of LC_ALL, LC_CTYPE, LANG that is set
};
Surroundings SurroundingsOf(int file_descriptor);

// The width of a line that is redrawn in place: one column less than the terminal, so that the
// cursor stays in it. Absent: such lines are not possible (no terminal, or a dumb one).
std::optional<size_t> LiveColumns(const Surroundings& surroundings);

// Decides on colour by --color, then NO_COLOR, then CLICOLOR_FORCE, then whether the output is a
// terminal (and not a dumb one). The width is COLUMNS if that is a number, else the terminal's,
// else 100; at least 80. Uses Unicode if the locale is UTF-8.
TextStyle StyleFor(const Surroundings& surroundings, ColorChoice color);

// Columns of a help text: COLUMNS if it is a number, else the terminal's, else 80; from 40 to 200.
size_t HelpWidth(const Surroundings& surroundings);

}  // namespace tacho
