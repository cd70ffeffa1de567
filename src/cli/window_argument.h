#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace tacho {

// A stretch of a trace as the user writes it: times from the trace's first event on.
struct WindowArgument {
  std::optional<DurationNs> begin, end;  // absent: the trace's own

  // The stretch on the clock of a trace. Fails with kUsage when nothing of it lies inside `span`.
  [[nodiscard]] Result<Interval> On(Interval span) const;
};

// "A:B", either may be left out. A and B are decimals with ns, us, ms or s; an A without a unit has
// that of B ("10:20ms"), anything else without one is in nanoseconds.
Result<WindowArgument> ParseWindow(std::string_view text);

// "1.5ms" to 1,500,000, exactly; a rest below one nanosecond is cut off.
// Without a unit it is in `unit`.
Result<DurationNs> ParseTraceTime(std::string_view text, std::string_view unit = "ns");

}  // namespace tacho
