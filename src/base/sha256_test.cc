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

TEST(Digest, PiecesGiveTheSameSha256) {
  const std::string text(1000, 'a');
  for (const size_t size : {1u, 55u, 63u, 64u, 65u, 200u, 999u}) {
    Sha256Sum sum;
    for (size_t at = 0; at < text.size(); at += size)
      sum.Add(std::string_view(text).substr(at, size));
    EXPECT_EQ(sum.Finish(), Sha256(text)) << size;
  }
}

}  // namespace
}  // namespace tacho
