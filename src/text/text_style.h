#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// How text for people is laid out. The command line fills it from the terminal
// (cli/screen/terminal.h); the default is for a file or a pipe.
struct TextStyle {
  size_t width = 100;   // columns; if there are more than the text needs, names get the rest
  bool unicode = true;  // bars, dots and dashes beyond ASCII
  bool color = false;
  bool whole_names = false;           // names are never shortened, lines may grow beyond `width`
  std::string_view wide_option = {};  // the command's option for whole_names; "": it has none

  [[nodiscard]] std::string_view dot() const { return unicode ? " · " : " | "; }
};

// Red stands for findings, yellow for caveats; nothing else is coloured.
enum class Paint : uint8_t { kPlain, kBold, kDim, kRed, kYellow };

// `text` in that paint; unchanged when the style has no colour.
std::string Painted(std::string_view text, Paint paint, const TextStyle& style);

}  // namespace tacho
