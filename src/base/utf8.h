#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// One code point of a text. A byte that does not start a valid sequence (RFC 3629) is a code point
// of its own with `valid` false.
struct Utf8Point {
  uint32_t value = 0;
  size_t length = 1;
  bool valid = false;
};
// The code point at `at`, which must be inside the text.
Utf8Point DecodeUtf8(std::string_view text, size_t at);

// `text` with U+FFFD in place of each byte that is not UTF-8.
std::string ValidUtf8(std::string_view text);

// True if all bytes form valid UTF-8.
bool IsUtf8(std::string_view text);

}  // namespace tacho
