#include "analysis/ranks/expert_balance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "analysis/ranks/fleet_for_test.h"

namespace tacho {
namespace {

constexpr int64_t kMicrosecond = 1000;

struct ExpertCase {
  uint32_t seed = 1;
  size_t ranks = 4;
  int64_t layers = 200;
  int64_t noise = 5 * kMicrosecond;  // each grouped GEMM takes up to this much longer
  bool exchange = true;              // dispatch and combine; else an all-reduce follows the experts
  std::vector<int64_t> slower;       // by rank
};

int64_t UpTo(std::mt19937& random, int64_t most) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(std::max<int64_t>(1, most)));
}

FleetForTest ExpertFleet(const ExpertCase& of) {
  std::mt19937 random(of.seed);
  FleetForTest fleet(of.ranks);
  std::vector<size_t> all;
  for (size_t rank = 0; rank < of.ranks; ++rank) all.push_back(rank);
  for (int64_t layer = 0; layer < of.layers; ++layer) {
    for (size_t rank = 0; rank < of.ranks; ++rank) {
      fleet.Idle(rank, UpTo(random, 2 * kMicrosecond));
      fleet.Compute(rank, 20 * kMicrosecond + UpTo(random, kMicrosecond), "rms_norm");
    }
    fleet.JoinAll(10 * kMicrosecond);
    if (of.exchange) fleet.Join(all, 8 * kMicrosecond, "", {}, "deep_ep::intranode::dispatch");
    for (size_t rank = 0; rank < of.ranks; ++rank) {
      const int64_t slower = rank < of.slower.size() ? of.slower[rank] : 0;
      fleet.Compute(rank, 50 * kMicrosecond + UpTo(random, of.noise) + slower, "fused_moe_kernel");
    }
    fleet.Join(all, 9 * kMicrosecond, "", {},
               of.exchange ? "deep_ep::intranode::combine" : "nccl_reduce");
  }
  return fleet;
}

std::set<size_t> Slow(const ExpertBalance& experts) {
  std::set<size_t> ranks;
  for (const ExpertBalance::Row& row : experts.table) {
    if (row.stands_out) ranks.insert(row.rank);
  }
  return ranks;
}

void ExpectHangsTogether(const RankBlame& blame) {
  const ExpertBalance& experts = blame.experts;
  DurationNs caused, longer, gemms;
  for (const ExpertBalance::Row& row : experts.table) {
    caused += row.caused;
    longer += row.longer;
    gemms += row.gemms;
    EXPECT_LE(row.longest, row.layers);
    EXPECT_LE(row.caused, blame.table.at(row.rank).caused);
  }
  EXPECT_EQ(caused, experts.waits);
  EXPECT_LE(experts.waits, blame.waits);
  EXPECT_LE(experts.above_mean, experts.slowest);
  EXPECT_GE(experts.imbalance(), 1);
  // Rounded down once for each part.
  EXPECT_GE(longer.ns, 0);
  EXPECT_LE(longer.ns, static_cast<int64_t>(experts.layers * experts.table.size()));
  // The mean is rounded down to the nanosecond.
  const auto ranks = static_cast<int64_t>(experts.table.size());
  EXPECT_NEAR(static_cast<double>((experts.slowest - experts.above_mean).ns * ranks),
              static_cast<double>(gemms.ns), static_cast<double>(experts.layers) * 64);
}

TEST(ExpertBalance, OneLayerIsCountedToTheNanosecond) {
  FleetForTest fleet(3);
  for (int i = 0; i < 4; ++i) fleet.JoinAll(kMicrosecond);
  for (size_t rank = 0; rank < 3; ++rank) {
    fleet.Compute(rank, 10 * kMicrosecond + static_cast<int64_t>(rank) * 6 * kMicrosecond,
                  "fused_moe_kernel");
    fleet.Compute(rank, 5 * kMicrosecond, "silu");
    fleet.Compute(rank, 10 * kMicrosecond, "fused_moe_kernel");
  }
  fleet.JoinAll(2 * kMicrosecond);
  const RankBlame blame = std::move(fleet).Finish().ranks.blame;
  const ExpertBalance& experts = blame.experts;
  ExpectHangsTogether(blame);
  EXPECT_EQ(experts.layers, 1u);
  EXPECT_EQ(experts.exchanged, 0u);
  EXPECT_EQ(experts.steps, 0u);
  EXPECT_EQ(experts.slowest.ns, 32 * kMicrosecond);
  EXPECT_EQ(experts.above_mean.ns, 6 * kMicrosecond);
  EXPECT_EQ(experts.waits.ns, (12 + 6) * kMicrosecond);
  ASSERT_EQ(experts.table.size(), 3u);
  EXPECT_EQ(experts.table[2].gemms.ns, 32 * kMicrosecond);
  EXPECT_EQ(experts.table[2].longer.ns, 9 * kMicrosecond);
  EXPECT_EQ(experts.table[2].caused, experts.waits);
  EXPECT_EQ(experts.table[0].longer.ns, -9 * kMicrosecond);
  EXPECT_EQ(experts.table[0].caused.ns, 0);
  EXPECT_EQ(experts.a_step(experts.waits), std::nullopt);
}

// Hidden in an all-reduce, too.
TEST(ExpertBalance, TheSlowRankStandsOutWithItsTime) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    ExpertCase of{.seed = seed, .ranks = 2 + seed % 7, .exchange = seed % 2 == 0, .slower = {}};
    const size_t who = seed % of.ranks;
    const int64_t slower = 4 * kMicrosecond + static_cast<int64_t>(seed) * 5 * kMicrosecond;
    of.slower.resize(of.ranks);
    of.slower[who] = slower;
    const RankBlame blame = ExpertFleet(of).Finish().ranks.blame;
    ExpectHangsTogether(blame);
    const ExpertBalance& experts = blame.experts;
    EXPECT_EQ(experts.layers, 200u);
    EXPECT_EQ(experts.exchanged, of.exchange ? 200u : 0u);
    EXPECT_EQ(Slow(experts), std::set{who}) << seed;
    const ExpertBalance::Row& row = experts.table[who];
    EXPECT_EQ(row.others, of.ranks - 1);
    EXPECT_NEAR(static_cast<double>(row.longer.ns) / 200, static_cast<double>(slower), 500) << seed;
    // Each of the others waits about as long: a little less where it is slow by chance.
    const double each = static_cast<double>(row.caused.ns) / 200 / static_cast<double>(row.others);
    EXPECT_NEAR(each, static_cast<double>(slower), 0.1 * static_cast<double>(slower) + 1500);
  }
}

TEST(ExpertBalance, ChanceAccusesNobody) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const ExpertCase of{.seed = seed,
                        .ranks = 2 + seed % 7,
                        .layers = 60,
                        .noise = 40 * kMicrosecond,
                        .exchange = seed % 2 == 0,
                        .slower = {}};
    const RankBlame blame = ExpertFleet(of).Finish().ranks.blame;
    ExpectHangsTogether(blame);
    EXPECT_EQ(Slow(blame.experts), std::set<size_t>()) << seed;
    EXPECT_GT(blame.experts.waits.ns, 0);
  }
}

TEST(ExpertBalance, TheOrderOfTracesDoesNotMatter) {
  const ExpertCase of{.ranks = 5, .layers = 80, .slower = {0, 0, 9 * kMicrosecond, 0, 0}};
  const ExpertBalance known = ExpertFleet(of).Finish().ranks.blame.experts;
  std::vector<size_t> order = {0, 1, 2, 3, 4};
  for (uint32_t seed = 0; seed < 4; ++seed) {
    std::ranges::shuffle(order, std::mt19937(seed));
    const ExpertBalance other = ExpertFleet(of).Finish(order).ranks.blame.experts;
    EXPECT_EQ(other.slowest, known.slowest);
    EXPECT_EQ(other.above_mean, known.above_mean);
    ASSERT_EQ(other.table.size(), known.table.size());
    for (size_t i = 0; i < known.table.size(); ++i) {
      EXPECT_EQ(other.table[i].longer, known.table[i].longer);
      EXPECT_EQ(other.table[i].caused, known.table[i].caused);
      EXPECT_EQ(other.table[i].stands_out, known.table[i].stands_out);
    }
  }
}

// Two engines beside each other: each has a slow rank of its own.
TEST(ExpertBalance, GroupsAreJudgedByThemselves) {
  std::mt19937 random(3);
  FleetForTest fleet(8);
  for (int layer = 0; layer < 100; ++layer) {
    for (size_t rank = 0; rank < 8; ++rank)
      fleet.Compute(rank,
                    50 * kMicrosecond + UpTo(random, 3 * kMicrosecond) +
                        (rank == 1 || rank == 6 ? 9 * kMicrosecond : 0),
                    "fused_moe_kernel");
    fleet.Join({0, 1, 2, 3}, 9 * kMicrosecond, "ep:0");
    fleet.Join({4, 5, 6, 7}, 9 * kMicrosecond, "ep:1");
  }
  const RankBlame blame = std::move(fleet).Finish().ranks.blame;
  EXPECT_EQ(blame.experts.layers, 200u);
  EXPECT_EQ(blame.experts.exchanged, 200u);
  EXPECT_EQ(Slow(blame.experts), (std::set<size_t>{1, 6}));
  EXPECT_EQ(blame.experts.table[1].others, 3u);
}

TEST(ExpertBalance, WithoutGroupedGemmsThereIsNothing) {
  FleetForTest fleet(2);
  for (int i = 0; i < 5; ++i) {
    fleet.Compute(0, 9 * kMicrosecond);
    fleet.Compute(1, 5 * kMicrosecond);
    fleet.JoinAll(kMicrosecond);
  }
  const ExpertBalance experts = std::move(fleet).Finish().ranks.blame.experts;
  EXPECT_EQ(experts.layers, 0u);
  EXPECT_TRUE(experts.table.empty());
  EXPECT_EQ(experts.imbalance(), 0);
}

}  // namespace
}  // namespace tacho
