#include "base/sha256.h"

#include <gtest/gtest.h>

#include "base/base64.h"

namespace tacho {
namespace {

TEST(Digest, Sha256IsThatOfTheStandard) {
  EXPECT_EQ(Base64(Sha256("")), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
  EXPECT_EQ(Base64(Sha256("abc")), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
  // Lengths around those where the padding takes another block. The values are hashlib's.
  EXPECT_EQ(Base64(Sha256(std::string(55, 'a'))), "n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg=");
  EXPECT_EQ(Base64(Sha256(std::string(56, 'a'))), "s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o=");
  EXPECT_EQ(Base64(Sha256(std::string(64, 'a'))), "/+BU/nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs=");
  EXPECT_EQ(Base64(Sha256(std::string(1000, 'a'))), "Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM=");
}

}  // namespace
}  // namespace tacho
