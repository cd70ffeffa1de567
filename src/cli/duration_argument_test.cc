#include "cli/duration_argument.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(ParseDuration, KnowsItsUnits) {
  EXPECT_EQ(ParseDuration("30")->ns, 30'000'000'000);
  EXPECT_EQ(ParseDuration("30s")->ns, 30'000'000'000);
  EXPECT_EQ(ParseDuration("500ms")->ns, 500'000'000);
  EXPECT_EQ(ParseDuration("1.5m")->ns, 90'000'000'000);
  EXPECT_EQ(ParseDuration("0")->ns, 0);
  for (const char* text : {"", "s", "-1s", "1d", "1s ", "nan", "inf", "1e300", "9999999h"})
    EXPECT_FALSE(ParseDuration(text)) << text;
}

}  // namespace
}  // namespace tacho
