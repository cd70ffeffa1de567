#include "view/navigate.h"

#include <gtest/gtest.h>

#include <set>

#include "base/random.h"
#include "view/viewed_for_test.h"

namespace tacho {
namespace {

constexpr int64_t kUnixBase = 1'700'000'000 * kNsPerSecond;

// Steps of 100 ns every 200 ns, beginning at `start`. Each step has a kernel of 50 ns, and the gaps
// grow.
Trace ThreeSteps(int64_t start) {
  TraceBuilder builder;
  builder.header().base_time_ns = kUnixBase;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t at = start + 200 * i;
    builder.Host("user_annotation", "execute_context_0(0)_generation_1(3)",
                 {.start = at, .duration = 100});
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = at + 5, .duration = 5, .correlation = i});
    builder.Kernel("gemm", {.start = at + 10 + 20 * i, .duration = 50, .correlation = i});
  }
  return std::move(builder).Finish();
}

TEST(NextStep, WalksThroughTheStepsOfAllRanks) {
  const ReadRanks ranks = RanksOf(ThreeSteps(1000), ThreeSteps(1050));
  std::vector<int64_t> starts;
  TimeNs from{-1};
  while (const auto step = NextStep(ranks, from, true)) {
    from = step->when.start;
    starts.push_back(from.ns);
    EXPECT_EQ(step->at.row, 0u);
  }
  EXPECT_EQ(starts, (std::vector<int64_t>{0, 50, 200, 250, 400, 450}));
  EXPECT_EQ(NextStep(ranks, TimeNs{400}, false)->when.start.ns, 250);
  EXPECT_EQ(NextStep(ranks, TimeNs{50}, true, 1)->when.start.ns, 250);
  EXPECT_FALSE(NextStep(ranks, TimeNs{0}, false));
  EXPECT_FALSE(NextStep(ranks, TimeNs{0}, true, 9));
}

TEST(StepByNumber, CountsFromOne) {
  const ReadRanks ranks = RanksOf(ThreeSteps(1000), ThreeSteps(1050));
  EXPECT_EQ(StepByNumber(ranks, 2)->when, (Interval{{200}, {300}}));
  EXPECT_EQ(StepByNumber(ranks, 3, 1)->when.start.ns, 450);
  EXPECT_FALSE(StepByNumber(ranks, 0));
  EXPECT_FALSE(StepByNumber(ranks, 4));
}

TEST(LongestRunGaps, OfAllRanks) {
  const ReadRanks ranks = RanksOf(ThreeSteps(1000), ThreeSteps(1050));
  const auto gaps = LongestRunGaps(ranks);
  ASSERT_EQ(gaps.size(), 4u);
  EXPECT_EQ(gaps[0].when, (Interval{{60}, {230}}));
  EXPECT_EQ(gaps[3].when, (Interval{{330}, {500}}));
  EXPECT_EQ(gaps[0].gap->before, "gemm");
  EXPECT_EQ(NextGap(ranks, TimeNs{60}, true)->rank, 1u);
  EXPECT_EQ(NextGap(ranks, TimeNs{60}, true, 0)->when.start.ns, 280);
  EXPECT_EQ(NextGap(ranks, TimeNs{280}, false)->when.start.ns, 110);
  EXPECT_FALSE(NextGap(ranks, TimeNs{60}, false));
  const PlacedSlice place = PlaceOfGap(ranks, gaps[0]);
  EXPECT_EQ(place.at, (SlicePlace{0, 2, 0, 0}));
  EXPECT_EQ(place.when, gaps[0].when);
}

TEST(NextSlice, OfARowOrOfALane) {
  const ReadRanks ranks = RanksOf(ThreeSteps(1000));
  const uint32_t row = Named(ranks, "cudaLaunchKernel").at.row;
  EXPECT_EQ(NextSlice(ranks, 0, row, TimeNs{0}, true)->name, "cudaLaunchKernel");
  EXPECT_EQ(NextSlice(ranks, 0, row, TimeNs{5}, true)->when.start.ns, 200);
  EXPECT_EQ(NextSlice(ranks, 0, row, TimeNs{5}, true, 1)->when.start.ns, 205);
  EXPECT_EQ(NextSlice(ranks, 0, row, TimeNs{5}, false)->when.start.ns, 0);
  EXPECT_FALSE(NextSlice(ranks, 0, row, TimeNs{405}, true));
  EXPECT_FALSE(NextSlice(ranks, 0, 99, TimeNs{0}, true));
}

TEST(SearchRun, AddsUpTheRanks) {
  const ReadRanks ranks = RanksOf(ThreeSteps(1050), ThreeSteps(1000));
  const RunSearch found = SearchRun(ranks, "GEMM", 10);
  EXPECT_EQ(found.total, 6u);
  ASSERT_EQ(found.names.size(), 1u);
  EXPECT_EQ(found.names[0].count, 6u);
  EXPECT_EQ(found.names[0].first.at.rank, 1u);
  EXPECT_EQ(SearchRun(ranks, "e", 2).names.size(), 2u);
  EXPECT_EQ(SearchRun(ranks, "gemm", 10, 0).total, 3u);
  EXPECT_TRUE(SearchRun(ranks, "nowhere", 10).names.empty());
}

// Several hits that start together, in one rank or in several, are all visited, in both directions.
TEST(NextHit, MeetsEveryHitOnce) {
  TraceBuilder builders[2];
  Random random(3);
  for (TraceBuilder& builder : builders) {
    builder.header().base_time_ns = kUnixBase;
    for (int i = 0; i < 60; ++i) {
      builder.Kernel(i % 3 == 0 ? "other" : "hit",
                     {.stream = i % 2 == 0 ? "7" : "8",
                      .start = static_cast<int64_t>(random.Below(12)),
                      .duration = static_cast<int64_t>(random.Below(5))});
    }
  }
  const ReadRanks ranks = RanksOf(std::move(builders[0]).Finish(), std::move(builders[1]).Finish());
  for (const bool forward : {true, false}) {
    TimeNs from{forward ? -100 : 100};
    std::optional<SlicePlace> after;
    std::set<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>> met;
    while (const auto hit = NextHit(ranks, "hit", from, forward, {}, after)) {
      EXPECT_EQ(hit->name, "hit");
      EXPECT_TRUE(forward ? hit->when.start >= from : hit->when.start <= from);
      from = hit->when.start;
      after = hit->at;
      ASSERT_TRUE(met.emplace(after->rank, after->row, after->lane, after->place).second);
    }
    EXPECT_EQ(met.size(), 80u);
  }
}

}  // namespace
}  // namespace tacho
