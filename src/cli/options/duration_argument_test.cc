#include "cli/options/duration_argument.h"

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

TEST(SizeArgument, UnitsAreOfAThousand) {
  EXPECT_EQ(ParseSize("100MB").value(), 100'000'000u);
  EXPECT_EQ(ParseSize("1.5GB").value(), 1'500'000'000u);
  EXPECT_EQ(ParseSize("64kB").value(), 64'000u);
  EXPECT_EQ(ParseSize("7").value(), 7u);
  for (const char* bad : {"", "0", "MB", "-1MB", "1 MB", "1MiB", "nan", "1e30", "0.1"})
    EXPECT_FALSE(ParseSize(bad)) << bad;
}

}  // namespace
}  // namespace tacho
