#include "text/format_number.h"

#include <gtest/gtest.h>

#include <vector>

namespace tacho {
namespace {

TEST(FormatNumber, ThreeSignificantDigits) {
  EXPECT_EQ(FormatNumber(0), "0");
  EXPECT_EQ(FormatNumber(1234567), "1,234,567");
  EXPECT_EQ(FormatNumber(99.94), "99.9");
  EXPECT_EQ(FormatNumber(99.96), "100");
  EXPECT_EQ(FormatNumber(12.34), "12.3");
  EXPECT_EQ(FormatNumber(1.234), "1.23");
  EXPECT_EQ(FormatNumber(9.996), "10.0");
  EXPECT_EQ(FormatNumber(0.1234), "0.123");
  EXPECT_EQ(FormatNumber(-1234), "-1,234");
  EXPECT_EQ(FormatNumber(0.000123), "0.00012");
  EXPECT_EQ(FormatNumber(0.0001), "0.0001");
  EXPECT_EQ(FormatNumber(0.0000999), "<0.0001");
  EXPECT_EQ(FormatNumber(-0.000091), ">-0.0001");
}

TEST(FormatCount, SeparatesThousands) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(1000), "1,000");
  EXPECT_EQ(FormatCount(-1234567), "-1,234,567");
}

TEST(UnitFor, KeepsTheLongestReadable) {
  EXPECT_EQ(UnitFor(std::vector<int64_t>{9'999}), TimeUnit::kNs);
  EXPECT_EQ(UnitFor(std::vector<int64_t>{10'000}), TimeUnit::kUs);
  EXPECT_EQ(UnitFor(std::vector<int64_t>{84'500'000}), TimeUnit::kMs);
  EXPECT_EQ(UnitFor(std::vector<int64_t>{84'500'000'000}), TimeUnit::kS);
  EXPECT_EQ(UnitFor(std::vector<int64_t>{}), TimeUnit::kMs);
}

TEST(UnitFor, OneOutlierDoesNotFlattenTheRest) {
  EXPECT_EQ(UnitFor(std::vector<int64_t>{16'200'000, 9'000, 13'000, 2'000}), TimeUnit::kUs);
}

TEST(FormatDuration, PicksItsUnit) {
  EXPECT_EQ(FormatDuration({0}), "0 ns");
  EXPECT_EQ(FormatDuration({950}), "950 ns");
  EXPECT_EQ(FormatDuration({84'500'000}), "84.5 ms");
  EXPECT_EQ(FormatDuration({1'070'000'000}), "1.07 s");
  EXPECT_EQ(FormatDuration({-69'300}), "-69.3 us");
}

TEST(FormatIn, NeverShowsSomethingAsLessThanAThousandth) {
  EXPECT_EQ(FormatIn({11}, TimeUnit::kMs), "<0.001");
  EXPECT_EQ(FormatIn({-11}, TimeUnit::kMs), ">-0.001");
  EXPECT_EQ(FormatIn({1'500}, TimeUnit::kMs), "0.0015");
  EXPECT_EQ(FormatIn({0}, TimeUnit::kMs), "0");
}

TEST(FormatCounted, OneIsNotMany) {
  EXPECT_EQ(FormatCounted(0, "kernel"), "0 kernels");
  EXPECT_EQ(FormatCounted(1, "kernel"), "1 kernel");
  EXPECT_EQ(FormatCounted(1'234, "kernel"), "1,234 kernels");
  EXPECT_EQ(FormatCounted(2, "trace does", "traces do"), "2 traces do");
}

TEST(FormatBytes, DecimalUnits) {
  EXPECT_EQ(FormatBytes(0), "0 B");
  EXPECT_EQ(FormatBytes(999), "999 B");
  EXPECT_EQ(FormatBytes(999'600), "1.00 MB");
  EXPECT_EQ(FormatBytes(1'920'000'000), "1.92 GB");
}

TEST(FormatPercent, NeverRoundsSomethingToNothingOrAll) {
  EXPECT_EQ(FormatPercent(0), "0.0");
  EXPECT_EQ(FormatPercent(0.0001), "<0.1");
  EXPECT_EQ(FormatPercent(0.137), "13.7");
  EXPECT_EQ(FormatPercent(0.99999), ">99.9");
  EXPECT_EQ(FormatPercent(1), "100.0");
}

TEST(FormatShare, WithoutAWholeThereIsNoShare) {
  EXPECT_EQ(FormatShare({1}, {4}), "25.0 %");
  EXPECT_EQ(FormatShare({1}, {0}), "n/a");
}

}  // namespace
}  // namespace tacho
