#include "base/base64.h"

#include <algorithm>

namespace tacho {
namespace {

constexpr std::string_view kLetters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoLetter = 64;

// By character: its number in kLetters.
constexpr auto kNumbers = [] {
  std::array<uint8_t, 256> numbers{};
  numbers.fill(kNoLetter);
  for (uint8_t i = 0; i < 64; ++i) numbers[static_cast<uint8_t>(kLetters[i])] = i;
  return numbers;
}();

}  // namespace

std::string Base64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t here = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < here ? static_cast<uint8_t>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) out += k <= here ? kLetters[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string Base64(const std::array<uint8_t, 32>& digest) {
  return Base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

std::optional<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 4; ++k) {
      const bool is_padding = i + k >= text.size() - padding;
      const uint8_t number = is_padding ? 0 : kNumbers[static_cast<uint8_t>(text[i + k])];
      if (number == kNoLetter) return std::nullopt;
      bits = bits << 6 | number;
    }
    for (size_t k = 0; k < 3; ++k) bytes += static_cast<char>(bits >> (16 - 8 * k) & 0xFF);
  }
  bytes.resize(bytes.size() - padding);
  return Base64(bytes) == text ? std::optional(std::move(bytes)) : std::nullopt;
}

}  // namespace tacho
