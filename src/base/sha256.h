#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// FIPS 180-4.
std::array<uint8_t, 32> Sha256(std::string_view text);

// RFC 4648, with padding.
std::string Base64(std::string_view bytes);
std::string Base64(const std::array<uint8_t, 32>& digest);

}  // namespace tacho
