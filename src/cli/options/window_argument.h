#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "run/read_run.h"

namespace tacho {

// "A:B", either may be left out. A and B are decimals with ns, us, ms or s; an A without a unit has
// that of B ("10:20ms"), anything else without one is in nanoseconds.
Result<TraceWindow> ParseWindow(std::string_view text);

// "1.5ms" to 1,500,000, exactly; fractions of a nanosecond are truncated. Without a unit it is in
// `unit`.
Result<DurationNs> ParseTraceTime(std::string_view text, std::string_view unit = "ns");

}  // namespace tacho
