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

// "A:B", either may be left out. A and B are decimals with ns, us, ms or s; nanoseconds without a
// unit.
Result<WindowArgument> ParseWindow(std::string_view text);

// "1.5ms" to 1,500,000, exactly; a rest below one nanosecond is cut off.
Result<DurationNs> ParseTraceTime(std::string_view text);

}  // namespace tacho
