#include "ingest/kineto_json/number.h"

#include <algorithm>
#include <string>

namespace tacho::kineto {
namespace {

// digits * 10^exponent as an integer, rounded half to even; nullopt if it exceeds int64.
std::optional<int64_t> Scale(std::string digits, int64_t exponent) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (digits.empty()) return 0;
  const int64_t length = static_cast<int64_t>(digits.size()) + exponent;  // digits before the point
  if (length > 19) return std::nullopt;
  if (length < 0) return 0;
  const auto whole = static_cast<size_t>(length);
  std::string rest = whole < digits.size() ? digits.substr(whole) : "";
  digits.resize(whole, '0');
  uint64_t value = 0;  // 19 digits fit
  for (const char c : digits) value = value * 10 + static_cast<uint64_t>(c - '0');
  if (!rest.empty()) {
    const bool above_half =
        rest[0] > '5' || (rest[0] == '5' && rest.find_first_not_of('0', 1) != std::string::npos);
    const bool half = rest[0] == '5' && !above_half;
    if (above_half || (half && value % 2 != 0)) ++value;
  }
  if (value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace

std::optional<int64_t> CanonicalInteger(std::string_view text) {
  if (text.empty() || text.size() > 19) return std::nullopt;
  char padded[48] = {};  // with padding, because ReadCanonicalInteger reads beyond the number
  std::copy(text.begin(), text.end(), padded);
  int64_t value = 0;
  if (ReadCanonicalInteger(padded, value) != padded + text.size()) return std::nullopt;
  return value;
}

std::optional<Microseconds> ParseMicroseconds(std::string_view text) {
  Microseconds result;
  bool negative = false;
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
  std::string digits;
  int64_t exponent = 3;  // microseconds to nanoseconds
  while (i < text.size() && IsDigit(text[i])) digits += text[i++];
  if (i < text.size() && text[i] == '.') {
    ++i;
    if (i < text.size() && text[i] == '-') {
      // Kineto before 2022 printed -5 ns as "0.-05" and -1234 ns as "-1.-234": whole microseconds,
      // then the remaining nanoseconds with their sign.
      result.plain = false;
      int64_t rest = 0;
      const size_t first = ++i;
      while (i < text.size() && IsDigit(text[i]) && i - first < 3)
        rest = rest * 10 + (text[i++] - '0');
      const auto whole = Scale(digits, 3);
      if (i == first || i != text.size() || !whole || *whole > INT64_MAX - rest)
        return std::nullopt;
      result.ns = -(*whole + rest);
      return result;
    }
    while (i < text.size() && IsDigit(text[i])) {
      digits += text[i++];
      --exponent;
    }
  }
  if (digits.empty()) return std::nullopt;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    result.plain = false;
    ++i;
    bool small = false;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) small = text[i++] == '-';
    if (i == text.size()) return std::nullopt;
    int64_t e = 0;
    while (i < text.size() && IsDigit(text[i]))
      e = std::min<int64_t>(e * 10 + (text[i++] - '0'), 1'000'000);
    exponent += small ? -e : e;
  }
  if (i != text.size()) return std::nullopt;
  const std::optional<int64_t> value = Scale(std::move(digits), exponent);
  if (!value) return std::nullopt;
  result.ns = negative ? -*value : *value;
  return result;
}

}  // namespace tacho::kineto
