#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/words.h"

namespace tacho::kineto {

// How many of the eight bytes in `v` (as loaded from memory) come before the first byte that is not
// a digit.
inline int CountDigits(uint64_t v) {
  // A byte is a digit if its upper half is 3, and still is after 6 was added.
  const uint64_t odd = ((v & 0xf0f0f0f0f0f0f0f0) ^ 0x3030303030303030) |
                       (((v + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) ^ 0x3030303030303030);
  return odd == 0 ? 8 : std::countr_zero(odd) / 8;
}

// The value of the first `count` (0 to 8) digits in `v`. The three multiplications join digits to
// pairs, pairs to fours, and fours to eight.
inline uint32_t DigitsValue(uint64_t v, int count) {
  static_assert(std::endian::native == std::endian::little);
  if (count == 0) return 0;
  v <<= (8 - count) * 8;  // leading zero bytes count as zero digits
  v = (v & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  v = (v & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  return static_cast<uint32_t>((v & 0x0000ffff0000ffff) * 42949672960001 >> 32);
}

// Reads digits at `p` into `value` and returns the first byte after them; nullptr if there are none
// or more than 18. May read up to 24 bytes from `p` on.
inline const char* ReadDigits(const char* p, uint64_t& value) {
  static constexpr uint32_t kPowers[] = {1,       10,        100,        1000,       10'000,
                                         100'000, 1'000'000, 10'000'000, 100'000'000};
  uint64_t v;
  std::memcpy(&v, p, 8);
  int count = CountDigits(v);
  uint64_t number = DigitsValue(v, count);
  if (count == 0) return nullptr;
  p += count;
  if (count == 8) {
    std::memcpy(&v, p, 8);
    count = CountDigits(v);
    number = number * kPowers[count] + DigitsValue(v, count);
    p += count;
    if (count == 8) {
      for (int more = 0; IsDigit(*p); ++more, ++p) {
        if (more == 2) return nullptr;
        number = number * 10 + static_cast<uint64_t>(*p - '0');
      }
    }
  }
  value = number;
  return p;
}

// Reads an integer in canonical form (no leading zero, no plus, no "-0"), so that printing it gives
// the same bytes. nullptr for any other text.
inline const char* ReadCanonicalInteger(const char* p, int64_t& value) {
  const bool negative = *p == '-';
  if (negative) [[unlikely]]
    ++p;  // as a branch, so that reading the digits need not wait for the sign
  uint64_t v = 0;
  const char* const end = ReadDigits(p, v);
  if (end == nullptr || (*p == '0' && (end != p + 1 || negative))) return nullptr;
  value = negative ? -static_cast<int64_t>(v) : static_cast<int64_t>(v);
  return end;
}

// The value of `text` if it is an integer in canonical form with up to 18 digits.
std::optional<int64_t> CanonicalInteger(std::string_view text);

// Reads microseconds with up to three decimals, as Kineto prints them, into nanoseconds. nullptr
// for any other form (a sign, an exponent, more decimals, a time after the year 2042), which
// ParseMicroseconds takes.
inline const char* ReadPlainMicroseconds(const char* p, int64_t& ns) {
  uint64_t us = 0;
  p = ReadDigits(p, us);
  if (p == nullptr || us > 2'300'000'000'000'000) return nullptr;
  uint64_t fraction = 0;
  const auto digit = [&](int i) {
    return static_cast<unsigned>(static_cast<unsigned char>(p[i])) - '0';
  };
  if (*p == '.' && std::max({digit(1), digit(2), digit(3)}) < 10) {
    fraction = digit(1) * 100 + digit(2) * 10 + digit(3);
    p += 4;
    if (IsDigit(*p)) return nullptr;
  } else if (*p == '.') {
    if (!IsDigit(p[1])) return nullptr;
    fraction = static_cast<uint64_t>(p[1] - '0') * 100;
    p += 2;
    if (IsDigit(*p)) {
      fraction += static_cast<uint64_t>(*p++ - '0') * 10;
      if (IsDigit(*p)) fraction += static_cast<uint64_t>(*p++ - '0');
    }
    if (IsDigit(*p)) return nullptr;
  }
  ns = static_cast<int64_t>(us * 1000 + fraction);
  return p;
}

struct Microseconds {
  int64_t ns = 0;
  bool plain = true;  // false: an unusual form (an exponent, a sign inside the decimals)
};
// Converts any decimal number of microseconds to nanoseconds. A fraction of a nanosecond is rounded
// to the nearest, ties to even; all else is exact. Also takes "0.-05", as Kineto before 2022
// printed -5 ns. nullopt for anything that is not a finite number in the range of int64
// nanoseconds.
std::optional<Microseconds> ParseMicroseconds(std::string_view text);

}  // namespace tacho::kineto
