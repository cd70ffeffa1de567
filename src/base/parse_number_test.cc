#include "base/parse_number.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace tacho {
namespace {

TEST(ParseWhole, TakesWholeNumbersThatFit) {
  EXPECT_EQ(ParseWhole<int64_t>("-12"), -12);
  EXPECT_EQ(ParseWhole<uint16_t>("65535"), 65535);
  EXPECT_EQ(ParseWhole<unsigned>("1F", 16), 31u);
  EXPECT_EQ(ParseWhole<double>("1.5e3"), 1500.0);
  for (const char* text : {"", "-", " 1", "1 ", "+1", "1.0", "12x", "9223372036854775808"})
    EXPECT_FALSE(ParseWhole<int64_t>(text)) << text;
  EXPECT_FALSE(ParseWhole<uint16_t>("65536"));
  EXPECT_FALSE(ParseWhole<unsigned>("-1"));
  EXPECT_FALSE(ParseWhole<double>("1e999"));
  for (const char* text : {"1,5", "inf", "nan"}) EXPECT_FALSE(ParseWhole<double>(text)) << text;
}

TEST(TakeNumber, LeavesTheRest) {
  std::string_view text = "12ms";
  EXPECT_EQ(TakeNumber<int>(text), 12);
  EXPECT_EQ(text, "ms");
  EXPECT_FALSE(TakeNumber<int>(text));
  EXPECT_EQ(text, "ms");
}

}  // namespace
}  // namespace tacho
