#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tacho {

// Parses a date in an HTTP header, such as "Sat, 21 Nov 2026 12:16:01 GMT", to Unix seconds.
std::optional<int64_t> ParseHttpDate(std::string_view text);

}  // namespace tacho
