#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tacho {

// Unix seconds of a date in an HTTP header: "Sat, 21 Nov 2026 12:16:01 GMT".
std::optional<int64_t> ParseHttpDate(std::string_view text);

}  // namespace tacho
