#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// Base64 as RFC 4648 defines it, with padding.
std::string Base64(std::string_view bytes);
std::string Base64(const std::array<uint8_t, 32>& digest);  // Sha256

// The bytes of such a text; nullopt if it is none.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace tacho
