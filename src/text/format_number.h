#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/share.h"

namespace tacho {

// Numbers for people. Machines get integers (json_writer.h, RenderCsv).

// Three significant digits, whole from 100 on and with thousands separated: "0.0123", "1.23",
// "12.3", "1,234". 0 is "0"; values too close to 0 are "<0.0001" or ">-0.0001".
std::string FormatNumber(double value);
// "1,234,567".
std::string FormatCount(int64_t value);
inline std::string FormatCount(std::unsigned_integral auto value) {
  return FormatCount(static_cast<int64_t>(value));
}
// "1 kernel", "1,234 kernels". Give `plural` if it is not the singular with an "s".
std::string FormatCounted(uint64_t count, std::string_view singular, std::string_view plural = {});

enum class TimeUnit : uint8_t { kNs, kUs, kMs, kS };
std::string_view TimeUnitName(TimeUnit unit);
// The unit in which the longest duration stays below 10,000, or the next smaller one if most
// durations would be below 0.1 otherwise.
TimeUnit UnitFor(std::span<const int64_t> durations_ns);
// Without the unit's name. A value that is not 0 but would be less than "0.001" is "<0.001".
std::string FormatIn(DurationNs duration, TimeUnit unit);
// With the unit's name: "84.5 ms".
std::string FormatDuration(DurationNs duration);

// Decimal units: "999 B", "1.92 GB".
std::string FormatBytes(int64_t bytes);
inline std::string FormatBytes(std::unsigned_integral auto bytes) {
  return FormatBytes(static_cast<int64_t>(bytes));
}

// A share (0..1) in percent with one decimal, without the sign: "13.7". A share that is neither 0
// nor 1 is never shown as 0 or 100: "<0.1", ">99.9".
std::string FormatPercent(double share);
// The same for `part` / `whole`, with " %"; "n/a" if `whole` is 0.
std::string FormatShare(DurationNs part, DurationNs whole);

}  // namespace tacho
