#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/share.h"

namespace tacho {

// Formats numbers for people to read. For machines, json_writer.h and RenderCsv write whole
// numbers.

// Three significant digits; from 100 on, all whole digits, with thousands separated: "0.0123",
// "1.23", "12.3", "1,234". 0 is "0". Values too close to 0 are "<0.0001" or ">-0.0001".
std::string FormatNumber(double value);
// With thousands separated: "1,234,567".
std::string FormatCount(int64_t value);
inline std::string FormatCount(std::unsigned_integral auto value) {
  return FormatCount(static_cast<int64_t>(value));
}
// Such as "1 kernel" or "1,234 kernels". Pass `plural` if it is not the singular with an "s".
std::string FormatCounted(uint64_t count, std::string_view singular, std::string_view plural = {});

enum class TimeUnit : uint8_t { kNs, kUs, kMs, kS };
std::string_view TimeUnitName(TimeUnit unit);
// The smallest unit in which the longest duration is below 10,000. But if most durations would then
// be below 0.1, the next smaller unit, unless the longest duration would be 1,000,000 or more in
// it. Durations of 0 do not count.
TimeUnit UnitFor(std::span<const int64_t> durations_ns);
// Without the unit's name. A value other than 0 that would be below "0.001" is "<0.001".
std::string FormatIn(DurationNs duration, TimeUnit unit);
// With the unit's name, such as "84.5 ms".
std::string FormatDuration(DurationNs duration);

// In decimal units, such as "999 B" or "1.92 GB".
std::string FormatBytes(int64_t bytes);
inline std::string FormatBytes(std::unsigned_integral auto bytes) {
  return FormatBytes(static_cast<int64_t>(bytes));
}

// Formats a share (0 to 1) in percent, with one decimal and without the sign: "13.7". A share other
// than 0 and 1 never appears as 0 or 100: "<0.1", ">99.9".
std::string FormatPercent(double share);
// The same for `part` / `whole`, followed by " %". "n/a" if `whole` is 0.
std::string FormatShare(DurationNs part, DurationNs whole);

}  // namespace tacho
