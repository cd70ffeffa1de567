#include "serve/start_place.h"

#include <gtest/gtest.h>

#include "view/viewed_for_test.h"

namespace tacho {
namespace {

using Kind = ServedStart::Kind;

// `kernels` kernels of 10 ns, 20 ns apart, each in its own step.
Trace WithKernels(int64_t kernels) {
  TraceBuilder builder;
  for (int64_t i = 0; i < kernels; ++i) {
    builder.Kernel("gemm", {.start = 30 * i, .duration = 10});
    builder.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
                 {.start = 30 * i, .duration = 10});
  }
  return std::move(builder).Finish();
}

TEST(StartPlace, TheNearestThatThereIsAndWords) {
  const ReadRanks ranks = RanksOf(WithKernels(3));
  const StartPlace second = FindStart({Kind::kGap, 2}, ranks);
  EXPECT_EQ(second.lacks, "");
  EXPECT_EQ(second.when, (Interval{{40}, {60}}));
  const StartPlace gap = FindStart({Kind::kGap, 99}, ranks);
  EXPECT_EQ(gap.lacks, "gap 99: there are 2 gaps; the page begins at the last");
  EXPECT_EQ(gap.when, second.when);
  const StartPlace step = FindStart({Kind::kStep, 9999}, ranks);
  EXPECT_EQ(step.lacks, "step 9999: there are 3 steps; the page begins at the last");
  EXPECT_EQ(step.when, (Interval{{60}, {70}})) << "the last has no period";
  EXPECT_EQ(FindStart({Kind::kStep, 2}, ranks).when, (Interval{{30}, {60}}));
  EXPECT_EQ(FindStart({Kind::kGap, 2}, RanksOf(WithKernels(2))).lacks,
            "gap 2: there is 1 gap; the page begins at the last");
  EXPECT_EQ(FindStart({Kind::kGap, 200}, RanksOf(WithKernels(150))).lacks,
            "gap 200: there are 100 gaps in the list of the longest; the page begins at the last");
}

TEST(StartPlace, NothingOfTheKindIsNoPlace) {
  const ReadRanks ranks = RanksOf(WithKernels(0));
  for (const Kind kind : {Kind::kGap, Kind::kStep}) {
    const StartPlace start = FindStart({kind, 1}, ranks);
    EXPECT_FALSE(start.when);
    EXPECT_EQ(start.lacks, kind == Kind::kGap ? "gap 1: the traces have no gaps"
                                              : "step 1: the traces have no steps");
  }
  EXPECT_EQ(FindStart({Kind::kGap, 1}, RanksOf(HalfLost())).lacks,
            "gap 1: idle time cannot be told: GPU work is missing from the recording");
  const StartPlace absent = FindStart({Kind::kName, 0, {}, "softmax"}, RanksOf(WithKernels(3)));
  EXPECT_FALSE(absent.when);
  EXPECT_EQ(absent.lacks, "\"softmax\": no slice has this in its name");
}

TEST(StartPlace, ANameAndATime) {
  const StartPlace name = FindStart({Kind::kName, 0, {}, "EMM"}, RanksOf(WithKernels(2)));
  EXPECT_EQ(name.when, (Interval{{0}, {10}}));
  EXPECT_EQ(name.lacks, "");
  EXPECT_TRUE(FindStart({Kind::kTime, 0, DurationNs{7}}, {}).when->contains(TimeNs{7}));
}

}  // namespace
}  // namespace tacho
