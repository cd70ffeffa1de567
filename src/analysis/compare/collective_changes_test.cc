#include "analysis/compare/collective_changes.h"

#include <gtest/gtest.h>

#include "analysis/ranks/fleet_for_test.h"

namespace tacho {
namespace {

constexpr int64_t kSteps = 20;

// Three ranks meet once a step; rank 1 is late by `late` ns.
std::vector<RunAnalysis> RunsWithALateRank(int64_t late, bool steps = true) {
  FleetForTest fleet(3);
  for (int64_t i = 0; i < kSteps; ++i) {
    for (size_t rank = 0; rank < 3; ++rank) fleet.Compute(rank, 5'000);
    fleet.Idle(1, late);
    fleet.JoinAll(1'000);
  }
  std::vector<RunAnalysis> runs;
  runs.push_back(std::move(fleet).Finish());
  for (RankRow& row : runs[0].ranks.rows) row.steps = steps ? kSteps : 0;
  return runs;
}

TEST(CollectiveChanges, AreOfTheRankThatCameLater) {
  const auto change = CompareCollectives(RunsWithALateRank(2'000), RunsWithALateRank(8'000));
  ASSERT_TRUE(change);
  EXPECT_NEAR(change->time.difference(), 2.0 * 6'000 / 3, 1e-6);
  EXPECT_NEAR(change->transfer.difference(), 0, 1e-6);
  EXPECT_NEAR(change->time.now, change->transfer.now + change->waits.now, 1e-6);
  ASSERT_EQ(change->ranks.size(), 1u);
  EXPECT_EQ(change->ranks[0].name, "rank 1");
  EXPECT_NEAR(change->ranks[0].caused.difference(), 4'000, 1e-6);
  EXPECT_NEAR(change->ranks[0].late.difference(), 6'000, 1e-6);
  EXPECT_EQ(change->Explains(), &change->ranks[0]);
  const auto back = CompareCollectives(RunsWithALateRank(8'000), RunsWithALateRank(2'000));
  EXPECT_NEAR(back->time.difference(), -change->time.difference(), 1e-6);
  EXPECT_EQ(back->Explains()->name, "rank 1");
}

TEST(CollectiveChanges, NobodyExplainsNoChange) {
  const auto same = CompareCollectives(RunsWithALateRank(8'000), RunsWithALateRank(8'000));
  ASSERT_TRUE(same);
  EXPECT_EQ(same->time.difference(), 0);
  EXPECT_EQ(same->Explains(), nullptr);
}

// Half of the collectives of a side that match nothing would be half of its time.
TEST(CollectiveChanges, AreAbsentIfOneSideMatchesFewer) {
  std::vector<RunAnalysis> fewer = RunsWithALateRank(8'000);
  EXPECT_EQ(WhyNoCollectives(RunsWithALateRank(8'000), fewer), "");
  fewer[0].ranks.blame.matched_share = 0.9;
  EXPECT_FALSE(CompareCollectives(RunsWithALateRank(8'000), fewer));
  EXPECT_FALSE(CompareCollectives(fewer, RunsWithALateRank(8'000)));
  EXPECT_TRUE(CompareCollectives(fewer, fewer));
  EXPECT_EQ(WhyNoCollectives(RunsWithALateRank(8'000), fewer),
            "only 90 % of new's communication kernels match one of another rank");
}

TEST(CollectiveChanges, AreAbsentWithoutFigures) {
  std::vector<RunAnalysis> read_back = RunsWithALateRank(8'000);
  read_back[0].ranks.blame = {};
  EXPECT_FALSE(CompareCollectives(read_back, RunsWithALateRank(8'000)));
  EXPECT_FALSE(CompareCollectives(RunsWithALateRank(8'000, false), RunsWithALateRank(8'000)));
}

}  // namespace
}  // namespace tacho
