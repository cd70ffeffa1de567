#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

namespace tacho {

inline constexpr int64_t kNsPerMs = 1'000'000, kNsPerSecond = 1'000'000'000;

// The sum, limited to the range of int64_t. Only times in damaged or hostile traces exceed it.
constexpr int64_t AddSaturated(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// A length of time in integer nanoseconds; may be negative. += does not overflow (AddSaturated).
struct DurationNs {
  int64_t ns = 0;

  constexpr auto operator<=>(const DurationNs&) const = default;
  constexpr DurationNs operator+(DurationNs o) const { return {ns + o.ns}; }
  constexpr DurationNs operator-(DurationNs o) const { return {ns - o.ns}; }
  constexpr DurationNs operator-() const { return {-ns}; }
  constexpr DurationNs& operator+=(DurationNs o) { return ns = AddSaturated(ns, o.ns), *this; }
  constexpr DurationNs& operator-=(DurationNs o) { return ns -= o.ns, *this; }
};

// A point in time, in integer nanoseconds on the clock of one trace file. Unix time is this value
// plus the file's base time.
struct TimeNs {
  int64_t ns = 0;

  constexpr auto operator<=>(const TimeNs&) const = default;
  constexpr TimeNs operator+(DurationNs d) const { return {ns + d.ns}; }
  constexpr TimeNs operator-(DurationNs d) const { return {ns - d.ns}; }
  constexpr DurationNs operator-(TimeNs o) const { return {ns - o.ns}; }
};

// The half-open interval [start, end). Empty when end <= start.
struct Interval {
  TimeNs start;
  TimeNs end;

  constexpr bool operator==(const Interval&) const = default;
  constexpr bool empty() const { return end <= start; }
  constexpr DurationNs length() const { return empty() ? DurationNs{0} : end - start; }
  constexpr bool contains(TimeNs t) const { return start <= t && t < end; }
  // The intersection with `o`; empty if they do not overlap.
  constexpr Interval Clip(Interval o) const {
    return {std::max(start, o.start), std::min(end, o.end)};
  }
};

}  // namespace tacho
