#include "base/string_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace tacho {
namespace {

TEST(StringPool, EmptyStringIsIdZero) {
  StringPool pool;
  EXPECT_EQ(pool.Intern(""), StringId::kEmpty);
  EXPECT_EQ(pool.View(StringId::kEmpty), "");
  EXPECT_EQ(pool.size(), 1u);
}

TEST(StringPool, SameTextSameIdAndViewsSurviveGrowth) {
  StringPool pool;
  const StringId first = pool.Intern("first");
  const std::string_view view = pool.View(first);
  for (int i = 0; i < 20000; ++i) pool.Intern("string number " + std::to_string(i));
  EXPECT_EQ(pool.View(first).data(), view.data());
  for (int i = 0; i < 20000; ++i) {
    const std::string text = "string number " + std::to_string(i);
    EXPECT_EQ(pool.View(pool.Intern(text)), text);
    EXPECT_EQ(pool.Find(text), pool.Intern(text));
  }
  EXPECT_EQ(pool.size(), 20002u);
  EXPECT_EQ(pool.Find("never seen"), StringId::kEmpty);
}

TEST(StringPool, KeepsZeroBytesAndLongStrings) {
  StringPool pool;
  const std::string zero("a\0b", 3), zeros("a\0\0", 3), huge(3'000'000, 'x');
  EXPECT_NE(pool.Intern(zero), pool.Intern(zeros));
  EXPECT_EQ(pool.View(pool.Intern(huge)), huge);
  EXPECT_EQ(pool.View(pool.Intern(zero)), zero);
}

TEST(StringPool, FifteenBytesPastTheEndMayBeRead) {
  StringPool pool;
  const std::string empty, longest(4096, 'x');  // fills a first block
  for (const std::string_view text : {std::string_view(empty), std::string_view(longest)}) {
    const std::string_view kept = pool.View(pool.Intern(text));
    char behind[15];
    std::memcpy(behind, kept.data() + kept.size(), sizeof behind);
    EXPECT_NE(kept.data(), nullptr);
  }
}

TEST(HashBytes, EveryLengthAndEveryByteCounts) {
  for (size_t n = 0; n < 70; ++n) {
    const std::string text(n, 'a');
    EXPECT_NE(HashBytes(text), HashBytes(text + 'a'));
    for (size_t i = 0; i < n; ++i) {
      std::string other = text;
      other[i] = 'b';
      EXPECT_NE(HashBytes(text), HashBytes(other)) << n << " " << i;
    }
  }
}

}  // namespace
}  // namespace tacho
