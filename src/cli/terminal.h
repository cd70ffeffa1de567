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

// What the surroundings say about an output. Gathered once, so that the rules below are a function.
struct Surroundings {
  bool is_tty = false;
  size_t columns = 0;            // of the terminal; 0: unknown
  std::string columns_variable;  // COLUMNS
  std::string no_color, clicolor_force, term;
  std::string locale;  // the first of LC_ALL, LC_CTYPE, LANG that is set
};
Surroundings SurroundingsOf(int file_descriptor);

// The columns that a line has which changes where it stands: one fewer than the terminal, so that
// the cursor stays in it. None: such a line is not for here (no terminal, or a dumb one).
std::optional<size_t> LiveColumns(const Surroundings& surroundings);

// Colour: --color, then NO_COLOR, then CLICOLOR_FORCE, then whether it is a terminal (and not a
// dumb one). Width: COLUMNS where it is a number, else the terminal's, else 100;
// 80 at least. Unicode where the locale is UTF-8.
TextStyle StyleFor(const Surroundings& surroundings, ColorChoice color);

}  // namespace tacho
