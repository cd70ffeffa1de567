#include "base/utf8.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Utf8, DecodesWhatRfc3629Allows) {
  EXPECT_EQ(DecodeUtf8("a", 0).value, 0x61u);
  EXPECT_EQ(DecodeUtf8("\xc2\x80", 0).value, 0x80u);
  EXPECT_EQ(DecodeUtf8("x\xe2\x82\xac", 1).value, 0x20acu);
  EXPECT_EQ(DecodeUtf8("\xf4\x8f\xbf\xbf", 0).value, 0x10ffffu);
}

TEST(Utf8, RefusesTheRestOneByteAtATime) {
  for (const std::string_view bad :
       {"\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xff"}) {
    const Utf8Point point = DecodeUtf8(bad, 0);
    EXPECT_FALSE(point.valid);
    EXPECT_EQ(point.length, 1u);
    EXPECT_FALSE(IsUtf8(bad));
  }
  EXPECT_EQ(ValidUtf8("a\xff\xfe\xc3\xa9"), "a\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
  EXPECT_TRUE(IsUtf8(ValidUtf8("a\xff")));
}

}  // namespace
}  // namespace tacho
