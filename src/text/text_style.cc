#include "text/text_style.h"

#include <fmt/format.h>

namespace tacho {

std::string Painted(std::string_view text, Paint paint, const TextStyle& style) {
  if (!style.color || paint == Paint::kPlain || text.empty()) return std::string(text);
  constexpr std::string_view kCodes[] = {"", "1", "2", "31", "33"};  // in the order of Paint
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(paint)], text);
}

}  // namespace tacho
