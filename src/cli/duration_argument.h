#pragma once

#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace tacho {

// "90s", "2m", "500ms", "1.5h", or a plain number of seconds. kUsage when it is none, or negative.
Result<DurationNs> ParseDuration(std::string_view text);

}  // namespace tacho
