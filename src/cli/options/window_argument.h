#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "run/read_run.h"

namespace tacho {

// "A:B"; either may be left out. A and B are decimals with ns, us, ms or s. An A without a unit has
// B's unit ("10:20ms"); otherwise a number without a unit is in nanoseconds.
Result<TraceWindow> ParseWindow(std::string_view text);

// "1.5ms" is exactly 1,500,000 ns; fractions of a nanosecond are truncated. A number without a unit
// is in `unit`.
Result<DurationNs> ParseTraceTime(std::string_view text, std::string_view unit = "ns");

}  // namespace tacho
