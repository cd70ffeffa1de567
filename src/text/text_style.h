#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// How text for people is laid out. The defaults are for a file or a pipe; for a terminal, the
// command line sets the values (cli/screen/terminal.h).
struct TextStyle {
  size_t width = 100;   // in columns; names get what the rest of the text leaves
  bool unicode = true;  // whether bars, dots and dashes may be other than ASCII
  bool color = false;
  bool whole_names = false;  // names are never shortened, so lines may be longer than `width`
  // The option of the command that sets whole_names; "": it has none.
  std::string_view wide_option = {};

  [[nodiscard]] std::string_view dot() const { return unicode ? " · " : " | "; }
};

// Red marks findings, yellow marks caveats. Nothing else is colored.
enum class Paint : uint8_t { kPlain, kBold, kDim, kRed, kYellow };

// `text` in the color or style of `paint`; unchanged if `style` has no color.
std::string Painted(std::string_view text, Paint paint, const TextStyle& style);

}  // namespace tacho
