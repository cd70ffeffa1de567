#include "text/text_style.h"

namespace tacho {

std::string Painted(std::string_view text, Paint paint, const TextStyle& style) {
  if (!style.color || paint == Paint::kPlain || text.empty()) return std::string(text);
  std::string_view code;
  switch (paint) {
    case Paint::kBold:
      code = "\x1b[1m";
      break;
    case Paint::kDim:
      code = "\x1b[2m";
      break;
    case Paint::kRed:
      code = "\x1b[31m";
      break;
    case Paint::kYellow:
      code = "\x1b[33m";
      break;
    case Paint::kPlain:
      break;
  }
  return std::string(code) + std::string(text) + "\x1b[0m";
}

}  // namespace tacho
