#include "text/visible_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(VisibleText, NothingReachesTheTerminalRaw) {
  EXPECT_EQ(VisibleText("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(VisibleText("\x1b[31mred"), "\\x1b[31mred");
  EXPECT_EQ(VisibleText(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(VisibleText("\xc2\x9b"
                        "31m"),
            "\\u009b31m");  // C1 control sequence introducer
  EXPECT_EQ(VisibleText("\xe2\x80\xae"
                        "evil"),
            "\\u202eevil");  // right-to-left override
}

TEST(VisibleText, KeepsOtherLetters) {
  EXPECT_EQ(VisibleText("größe 大"), "größe 大");
  EXPECT_EQ(VisibleText("größe", false), "gr??e");
}

TEST(VisibleText, BadBytesBecomeOneMarkEach) {
  EXPECT_EQ(VisibleText("a\xff\xfe"
                        "b"),
            "a\xef\xbf\xbd\xef\xbf\xbd"
            "b");
  EXPECT_EQ(VisibleText("a\xc3"), "a\xef\xbf\xbd");                                // cut short
  EXPECT_EQ(VisibleText("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
}

TEST(DisplayWidth, WideAndCombining) {
  EXPECT_EQ(DisplayWidth("abc"), 3u);
  EXPECT_EQ(DisplayWidth("大"), 2u);
  EXPECT_EQ(DisplayWidth("e\xcc\x81"), 1u);
}

TEST(FitText, TheMiddleGoes) {
  EXPECT_EQ(FitText("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(FitText("abcdefghij", 7), "abcd…ij");
  EXPECT_EQ(FitText("abcdefghij", 7, false), "abc...j");
  EXPECT_EQ(FitText("大大大大大大", 7), "大大…大");
}

TEST(Wrap, KeepsNumbersWithTheirUnits) {
  EXPECT_EQ(Wrap("it took 84.5 ms in all", 14, 0), "it took\n84.5 ms in all");
  EXPECT_EQ(Wrap("one two three", 7, 2), "one two\n  three");
}

TEST(Wrap, AShortenedPathHasNoParentFolderInIt) {
  const std::string path = "first at traces/w0/tacho-20261123-143151-w0_rank0.1795.pt.trace.json";
  for (const size_t width : {12u, 23u, 40u}) {
    const std::string line = Wrap(path, width, 3);
    EXPECT_THAT(line, testing::HasSubstr("…"));
    EXPECT_THAT(line, testing::Not(testing::HasSubstr("..")));
    EXPECT_THAT(Wrap(path, width, 3, false), testing::ContainsRegex("[^.][.][.][.]"));
  }
}

}  // namespace
}  // namespace tacho
