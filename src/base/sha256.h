#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tacho {

// SHA-256 as FIPS 180-4 defines it.
std::array<uint8_t, 32> Sha256(std::string_view text);

// The same of a text that comes in pieces.
class Sha256Sum {
 public:
  void Add(std::string_view piece);
  // The last call.
  std::array<uint8_t, 32> Finish();

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::string rest_;  // less than a block
  uint64_t bytes_ = 0;
};

}  // namespace tacho
