#include "cli/options/duration_argument.h"

#include <fmt/format.h>

#include <cmath>

#include "base/parse_number.h"
#include "text/visible_text.h"

namespace tacho {

Result<DurationNs> ParseDuration(std::string_view text) {
  std::string_view unit = text;
  const auto value = TakeNumber<double>(unit);
  double scale = unit == "ms"                   ? 1e6
                 : unit == "s" || unit.empty()  ? 1e9
                 : unit == "m" || unit == "min" ? 60e9
                 : unit == "h"                  ? 3600e9
                                                : 0;
  // The limit is a year: longer than any profile, and it fits into int64 nanoseconds.
  if (!value || scale == 0 || !(*value >= 0) || *value * scale > 3600e9 * 24 * 366)
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' is not a duration: write 30s, 2m or 500ms", VisibleText(text)));
  return DurationNs{std::llround(*value * scale)};
}

Result<uint64_t> ParseSize(std::string_view text) {
  std::string_view unit = text;
  const auto value = TakeNumber<double>(unit);
  const double scale = unit == "kB" || unit == "KB"  ? 1e3
                       : unit == "MB"                ? 1e6
                       : unit == "GB"                ? 1e9
                       : unit == "TB"                ? 1e12
                       : unit == "B" || unit.empty() ? 1
                                                     : 0;
  if (!value || scale == 0 || !(*value * scale >= 1) || *value * scale > 1e18)
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' is not a size: write 100MB, 1.5GB or 64kB", VisibleText(text)));
  return static_cast<uint64_t>(std::llround(*value * scale));
}

}  // namespace tacho
