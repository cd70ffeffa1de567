#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// SHA-256 as FIPS 180-4 defines it.
std::array<uint8_t, 32> Sha256(std::string_view text);

// Base64 as RFC 4648 defines it, with padding.
std::string Base64(std::string_view bytes);
std::string Base64(const std::array<uint8_t, 32>& digest);

}  // namespace tacho
