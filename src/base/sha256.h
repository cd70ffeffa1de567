#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// SHA-256 as FIPS 180-4 defines it.
std::array<uint8_t, 32> Sha256(std::string_view text);

}  // namespace tacho
