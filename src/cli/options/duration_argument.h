#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace tacho {

// "90s", "2m", "500ms", "1.5h", or a plain number of seconds. kUsage: invalid, or negative.
Result<DurationNs> ParseDuration(std::string_view text);

// "100MB", "1.5GB", "640kB" (of 1000), or a plain number of bytes, at least one. kUsage: invalid.
Result<uint64_t> ParseSize(std::string_view text);

}  // namespace tacho
