#include "text/format_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "base/words.h"

namespace tacho {
namespace {

constexpr double kNsIn[] = {1, 1e3, 1e6, 1e9};

}  // namespace

std::string FormatCount(int64_t value) { return WithThousands(fmt::format("{}", value)); }

std::string FormatCounted(uint64_t count, std::string_view singular, std::string_view plural) {
  const std::string number = FormatCount(count);
  if (count == 1) return fmt::format("{} {}", number, singular);
  return plural.empty() ? fmt::format("{} {}s", number, singular)
                        : fmt::format("{} {}", number, plural);
}

std::string FormatNumber(double value) {
  const double size = std::fabs(value);
  if (size == 0) return "0";
  if (size >= 99.95) return WithThousands(fmt::format("{:.0f}", value));
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.9995) return fmt::format("{:.2f}", value);
  if (size >= 0.0995) return fmt::format("{:.3f}", value);
  if (size >= 0.00995) return fmt::format("{:.4f}", value);
  if (size >= 0.0001) return fmt::format("{:.2g}", value);
  return value > 0 ? "<0.0001" : ">-0.0001";
}

std::string_view TimeUnitName(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kNs:
      return "ns";
    case TimeUnit::kUs:
      return "us";
    case TimeUnit::kMs:
      return "ms";
    case TimeUnit::kS:
      return "s";
  }
  return "";
}

TimeUnit UnitFor(std::span<const int64_t> durations_ns) {
  std::vector<int64_t> sizes;
  for (const int64_t ns : durations_ns) {
    if (ns != 0) sizes.push_back(ns < 0 ? -ns : ns);
  }
  if (sizes.empty()) return TimeUnit::kMs;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const auto median = static_cast<double>(*middle);
  const auto longest = static_cast<double>(*std::max_element(sizes.begin(), sizes.end()));
  size_t unit = 0;
  while (unit + 1 < std::size(kNsIn) && longest / kNsIn[unit] >= 10'000) ++unit;
  // One very long duration should not turn all others into 0.009.
  if (unit > 0 && median / kNsIn[unit] < 0.1 && longest / kNsIn[unit - 1] < 1'000'000) --unit;
  return static_cast<TimeUnit>(unit);
}

std::string FormatIn(DurationNs duration, TimeUnit unit) {
  const double value = static_cast<double>(duration.ns) / kNsIn[static_cast<size_t>(unit)];
  if (value != 0 && std::fabs(value) < 0.001) return value > 0 ? "<0.001" : ">-0.001";
  return FormatNumber(value);
}

std::string FormatDuration(DurationNs duration) {
  const int64_t size = duration.ns < 0 ? -duration.ns : duration.ns;
  const TimeUnit unit = size < 1'000           ? TimeUnit::kNs
                        : size < 1'000'000     ? TimeUnit::kUs
                        : size < 1'000'000'000 ? TimeUnit::kMs
                                               : TimeUnit::kS;
  return fmt::format("{} {}", FormatIn(duration, unit), TimeUnitName(unit));
}

std::string FormatBytes(int64_t bytes) {
  constexpr const char* kNames[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::fabs(value) >= 999.5 && unit + 1 < std::size(kNames)) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{} {}", unit == 0 ? FormatCount(bytes) : FormatNumber(value), kNames[unit]);
}

std::string FormatPercent(double share) {
  const double percent = share * 100;
  if (percent > 0 && percent < 0.05) return "<0.1";
  if (percent < 100 && percent >= 99.95) return ">99.9";
  if (percent < 0 && percent > -0.05) return ">-0.1";
  return fmt::format("{:.1f}", percent);
}

std::string FormatShare(DurationNs part, DurationNs whole) {
  if (whole.ns == 0) return "n/a";
  return FormatPercent(ShareOf(part, whole)) + " %";
}

}  // namespace tacho
