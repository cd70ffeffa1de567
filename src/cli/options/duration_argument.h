#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace tacho {

// Accepts "90s", "2m", "500ms", "1.5h", or a plain number of seconds. kUsage: invalid, negative, or
// longer than a year.
Result<DurationNs> ParseDuration(std::string_view text);

// Accepts "100MB", "1.5GB", "640kB" (1 kB is 1000 bytes), or a plain number of bytes; at least one
// byte. kUsage: invalid.
Result<uint64_t> ParseSize(std::string_view text);

}  // namespace tacho
