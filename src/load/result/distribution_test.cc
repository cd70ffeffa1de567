#include "load/result/distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace tacho {
namespace {

TEST(Distribution, PercentilesAreNumpys) {
  // numpy.percentile([15, 20, 35, 40, 50], [...])
  const std::vector<double> sorted = {15, 20, 35, 40, 50};
  EXPECT_DOUBLE_EQ(PercentileOf(sorted, 0), 15);
  EXPECT_DOUBLE_EQ(PercentileOf(sorted, 40), 29);
  EXPECT_DOUBLE_EQ(PercentileOf(sorted, 50), 35);
  EXPECT_DOUBLE_EQ(PercentileOf(sorted, 99), 49.6);
  EXPECT_DOUBLE_EQ(PercentileOf(sorted, 100), 50);
  EXPECT_DOUBLE_EQ(PercentileOf(std::vector<double>{7}, 99), 7);
}

TEST(Distribution, DescribesItsSamples) {
  const Distribution all = Describe({4, 2, 4, 4, 5, 5, 7, 9}, std::vector<double>{50});
  EXPECT_EQ(all.count, 8u);
  EXPECT_DOUBLE_EQ(all.mean, 5);
  EXPECT_DOUBLE_EQ(all.deviation, 2);
  EXPECT_DOUBLE_EQ(all.least, 2);
  EXPECT_DOUBLE_EQ(all.most, 9);
  EXPECT_DOUBLE_EQ(*all.At(50), 4.5);
  EXPECT_FALSE(all.At(99));
  EXPECT_FALSE(all.percentiles[0].low);  // too few samples
  EXPECT_EQ(Describe({}, std::vector<double>{50}).count, 0u);
  EXPECT_TRUE(Describe({}, std::vector<double>{50}).percentiles.empty());
}

TEST(Distribution, BoundsHoldTheTruthInNineteenOfTwentyCases) {
  int held50 = 0, held99 = 0;
  constexpr int kRuns = 2000;
  for (int run = 0; run < kRuns; ++run) {
    Random random(11, static_cast<uint64_t>(run));
    std::vector<double> samples(1000);
    for (double& sample : samples) sample = random.Uniform();
    const Distribution all = Describe(samples, std::vector<double>{50, 99});
    ASSERT_TRUE(all.percentiles[0].low && all.percentiles[1].low);
    held50 += *all.percentiles[0].low <= 0.5 && 0.5 <= *all.percentiles[0].high;
    held99 += *all.percentiles[1].low <= 0.99 && 0.99 <= *all.percentiles[1].high;
  }
  EXPECT_GT(held50, 0.94 * kRuns);
  EXPECT_GT(held99, 0.94 * kRuns);
  EXPECT_LT(held50, 0.975 * kRuns);
}

}  // namespace
}  // namespace tacho
