#include "cli/options/window_argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/words.h"
#include "text/visible_text.h"

namespace tacho {
namespace {

struct Suffix {
  std::string_view name;
  int64_t ns;
};
// Longer suffixes come first: "ms" also ends in "s".
constexpr std::array<Suffix, 4> kSuffixes = {
    {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

// The unit that `text` ends in; nullptr without one.
const Suffix* UnitOf(std::string_view text) {
  const auto unit =
      std::ranges::find_if(kSuffixes, [&](const Suffix& s) { return text.ends_with(s.name); });
  return unit == kSuffixes.end() ? nullptr : &*unit;
}

}  // namespace

Result<DurationNs> ParseTraceTime(std::string_view text, std::string_view default_unit) {
  const auto fail = [&] {
    return Fail(ErrorKind::kUsage,
                fmt::format("'{}' is not a time: expected a number with ns, us, ms or s, "
                            "such as 1.5ms",
                            VisibleText(text)));
  };
  std::string_view digits = text;
  const Suffix* suffix = UnitOf(text);
  if (suffix != nullptr) {
    digits.remove_suffix(suffix->name.size());
  } else {
    suffix = UnitOf(default_unit);
  }
  const int64_t unit = suffix == nullptr ? 1 : suffix->ns;
  if (digits.empty() || digits == ".") return fail();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t value = 0;
  size_t i = 0;
  for (; i < digits.size() && IsDigit(digits[i]); ++i) {
    const int64_t digit = digits[i] - '0';
    if (value > (kMost - digit) / 10) return fail();
    value = value * 10 + digit;
  }
  if (value > kMost / unit) return fail();
  value *= unit;
  if (i < digits.size() && digits[i] == '.') {
    int64_t place = unit;
    for (++i; i < digits.size() && IsDigit(digits[i]); ++i) {
      place /= 10;
      const int64_t more = (digits[i] - '0') * place;
      if (value > kMost - more) return fail();
      value += more;
    }
  }
  if (i < digits.size()) return fail();
  return DurationNs{value};
}

Result<TraceWindow> ParseWindow(std::string_view text) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return Fail(
        ErrorKind::kUsage,
        fmt::format("'{}' is not a window: expected A:B, such as 100ms:1.5s, 100ms: or :1.5s",
                    VisibleText(text)));
  }
  TraceWindow window;
  const std::string_view last = text.substr(colon + 1);
  if (colon > 0) {
    const Suffix* unit = UnitOf(last);
    TACHO_ASSIGN_OR_RETURN(
        window.begin, ParseTraceTime(text.substr(0, colon), unit == nullptr ? "ns" : unit->name));
  }
  if (!last.empty()) {
    TACHO_ASSIGN_OR_RETURN(window.end, ParseTraceTime(last));
  }
  if (window.end && window.end->ns <= window.begin.value_or(DurationNs{0}).ns) {
    return Fail(ErrorKind::kUsage,
                fmt::format("the window '{}' ends before it begins", VisibleText(text)));
  }
  return window;
}

}  // namespace tacho
