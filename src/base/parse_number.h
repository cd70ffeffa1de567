#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace tacho {

// Removes the number at the front of `text` and returns it. Blanks and '+' before it are not
// accepted; the locale does not matter. If there is no number, or it does not fit a T: nullopt, and
// `text` is unchanged. A double must be finite.
template <typename T>
std::optional<T> TakeNumber(std::string_view& text, [[maybe_unused]] int base = 10) {
  T value{};
  std::from_chars_result read{};
  const char* const end = text.data() + text.size();
  if constexpr (std::is_floating_point_v<T>) {
    read = std::from_chars(text.data(), end, value);
    if (!std::isfinite(value)) return std::nullopt;
  } else {
    read = std::from_chars(text.data(), end, value, base);
  }
  if (read.ec != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
  return value;
}

// All of `text` as one number; nullopt if it holds anything else.
template <typename T>
std::optional<T> ParseWhole(std::string_view text, int base = 10) {
  const std::optional<T> value = TakeNumber<T>(text, base);
  return text.empty() ? value : std::nullopt;
}

}  // namespace tacho
