#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace tacho::kineto {

inline bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') <= 9; }

// The value of the eight digits at `p`, or nullopt if one of them is none. Three multiplications: pairs,
// then fours, then eight.
inline std::optional<uint32_t> EightDigits(const char* p) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t v;
  std::memcpy(&v, p, 8);
  if (((v & 0xf0f0f0f0f0f0f0f0) | (((v + 0x0606060606060606) & 0xf0f0f0f0f0f0f0f0) >> 4)) !=
      0x3333333333333333) {
    return std::nullopt;
  }
  v = (v & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  v = (v & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  return static_cast<uint32_t>((v & 0x0000ffff0000ffff) * 42949672960001 >> 32);
}

// Reads digits at `p` into `value` (below 10^18, else nullptr) and returns the first byte behind them;
// nullptr when there is no digit. Up to 16 bytes behind the last digit are read.
inline const char* ReadDigits(const char* p, uint64_t& value) {
  const char* const first = p;
  uint64_t v = 0;
  if (const auto eight = EightDigits(p)) {
    v = *eight;
    p += 8;
    if (const auto more = EightDigits(p)) {
      v = v * 100'000'000 + *more;
      p += 8;
    }
  }
  for (; IsDigit(*p); ++p) {
    if (p - first >= 18) return nullptr;
    v = v * 10 + static_cast<uint64_t>(*p - '0');
  }
  if (p == first) return nullptr;
  value = v;
  return p;
}

// Reads an integer in its one canonical form (no leading zero, no plus, no "-0"), so that printing it
// gives the same bytes. nullptr for anything else.
inline const char* ReadCanonicalInteger(const char* p, int64_t& value) {
  const bool negative = *p == '-';
  p += negative;
  uint64_t v = 0;
  const char* const end = ReadDigits(p, v);
  if (end == nullptr || (*p == '0' && (end != p + 1 || negative))) return nullptr;
  value = negative ? -static_cast<int64_t>(v) : static_cast<int64_t>(v);
  return end;
}

// Reads microseconds with up to three decimals, as Kineto prints them, into nanoseconds. nullptr for
// anything else (a sign, an exponent, more decimals): ParseMicroseconds takes those.
inline const char* ReadPlainMicroseconds(const char* p, int64_t& ns) {
  uint64_t us = 0;
  p = ReadDigits(p, us);
  if (p == nullptr || us > 9'000'000'000'000'000) return nullptr;
  uint64_t fraction = 0;
  if (*p == '.') {
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
  bool plain = true;  // false: an odd form (exponent, sign inside the decimals)
};
// Any decimal number as nanoseconds, exactly; what is finer than a nanosecond is rounded to the nearest,
// ties to even. Also "0.-05", which Kineto's formatter made of -5 ns. nullopt for anything that is
// no finite number in the range of int64 nanoseconds.
std::optional<Microseconds> ParseMicroseconds(std::string_view text);

}  // namespace tacho::kineto
