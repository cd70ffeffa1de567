#include "analysis/compare/overhead.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace tacho {
namespace {

// Blocks of one-second windows with steps of 10 ms, in the order ABBA BAAB .... They include what a
// real machine adds: noise in each window and a drift from the first window to the last.
std::vector<OverheadBlock> BlocksOf(size_t count, double slowdown, double noise, double drift,
                                    Random& random) {
  std::vector<OverheadBlock> blocks(count);
  size_t at = 0;
  for (size_t b = 0; b < count; ++b) {
    for (const bool middle : {false, true, true, false}) {
      const bool profiled = middle != (b % 2 == 1);
      double step_ns =
          10e6 * (1 + drift * static_cast<double>(at++) / (4.0 * static_cast<double>(count)));
      step_ns *= (profiled ? 1 + slowdown : 1) * std::exp(noise * random.Normal());
      blocks[b].push_back({profiled, 1e9, 1e9 / step_ns});
    }
  }
  return blocks;
}

TEST(Overhead, SwappingTheSidesFlipsTheSign) {
  Random random(1);
  std::vector<OverheadBlock> blocks = BlocksOf(4, 0.1, 0.02, 0.1, random);
  const OverheadEstimate one = EstimateOverhead(blocks).value();
  for (OverheadBlock& block : blocks)
    for (WindowFigure& window : block) window.profiled = !window.profiled;
  const OverheadEstimate other = EstimateOverhead(blocks).value();
  EXPECT_NEAR((1 + one.change) * (1 + other.change), 1, 1e-12);
  EXPECT_NEAR((1 + one.low) * (1 + other.high), 1, 1e-12);
  EXPECT_DOUBLE_EQ(one.unprofiled, other.profiled);
  EXPECT_GT(one.change, 0);
  EXPECT_EQ(VerdictOf(one, true, 0.02), OverheadVerdict::kCost);
  EXPECT_EQ(VerdictOf(one, false, 0.02), OverheadVerdict::kFaster);
  EXPECT_EQ(VerdictOf(other, false, 0.02), OverheadVerdict::kCost);
}

TEST(Overhead, EqualWindowsHaveNone) {
  Random random(1);
  const OverheadEstimate same = EstimateOverhead(BlocksOf(3, 0, 0, 0, random)).value();
  EXPECT_NEAR(same.change, 0, 1e-12);
  EXPECT_LE(same.low, 1e-12);
  EXPECT_GE(same.high, -1e-12);
}

TEST(Overhead, ALinearDriftIsNone) {
  Random random(1);
  const OverheadEstimate drifted = EstimateOverhead(BlocksOf(4, 0.1, 0, 0.5, random)).value();
  EXPECT_NEAR(drifted.change, 0.1, 0.001);
  EXPECT_LT(drifted.high - drifted.low, 0.01);
}

// At most 5 % of 400 recordings may miss the truth: 20, plus twice the binomial deviation.
TEST(Overhead, TheTruthLiesWithinTheBounds) {
  Random random(42);
  for (const size_t blocks : {size_t{2}, size_t{4}, size_t{8}}) {
    for (const double slowdown : {0.0, 0.1}) {
      int missed = 0, costs = 0;
      for (int run = 0; run < 400; ++run) {
        const OverheadEstimate e =
            EstimateOverhead(BlocksOf(blocks, slowdown, 0.03, 0.2, random)).value();
        missed += slowdown < e.low || slowdown > e.high;
        costs += VerdictOf(e, true, 0.02) == OverheadVerdict::kCost;
      }
      EXPECT_LE(missed, 20 + 9) << blocks << " blocks, " << slowdown;
      EXPECT_GE(missed, 4) << "bounds far too wide: " << blocks << " blocks, " << slowdown;
      if (slowdown == 0) {
        EXPECT_LE(costs, 10 + 6) << "false costs: " << blocks;
      } else if (blocks == 8) {
        EXPECT_GE(costs, 390);
      }
    }
  }
}

TEST(Overhead, OfFewBlocksThereIsNoneAndOfWideOnesNoVerdict) {
  Random random(3);
  EXPECT_FALSE(EstimateOverhead({}));
  EXPECT_FALSE(EstimateOverhead(BlocksOf(1, 0.1, 0, 0, random)));
  std::vector<OverheadBlock> blocks = BlocksOf(3, 0.1, 0, 0, random);
  for (WindowFigure& window : blocks[0])
    if (window.profiled) window.count = 0;  // no step was taken while it was profiled
  EXPECT_EQ(EstimateOverhead(blocks).value().blocks, 2u);
  blocks.push_back(blocks[1]);
  blocks[3][0].count = 0;
  EXPECT_EQ(EstimateOverhead(blocks).value().blocks, 2u) << "drift would weigh on one side";
  blocks.pop_back();
  blocks.pop_back();
  EXPECT_FALSE(EstimateOverhead(blocks));

  const OverheadEstimate narrow{4, 1, 1, 0.001, -0.009, 0.011}, wide{4, 1, 1, 0.01, -0.03, 0.05};
  EXPECT_EQ(VerdictOf(narrow, true, 0.02), OverheadVerdict::kNoCost);
  EXPECT_EQ(VerdictOf(wide, true, 0.02), OverheadVerdict::kInconclusive);
  EXPECT_EQ(NameOf(OverheadVerdict::kInconclusive), "inconclusive");
}

}  // namespace
}  // namespace tacho
