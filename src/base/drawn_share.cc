#include "base/drawn_share.h"

#include "base/parse_number.h"
#include "base/words.h"

namespace tacho {

std::optional<double> LastShareIn(std::string_view drawn) {
  const size_t percent = drawn.rfind('%');
  if (percent == std::string_view::npos) return std::nullopt;
  size_t begin = percent;
  while (begin > 0 && IsDigit(drawn[begin - 1])) --begin;
  const auto number = ParseWhole<int>(drawn.substr(begin, percent - begin));
  if (!number || *number < 0 || *number > 100) return std::nullopt;
  return *number / 100.0;
}

}  // namespace tacho
