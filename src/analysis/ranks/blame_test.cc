#include "analysis/ranks/blame.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "analysis/ranks/fleet_for_test.h"

namespace tacho {
namespace {

constexpr int64_t kMicro = 1000;
constexpr size_t kBlamedRanks = 8;

int64_t Draw(std::mt19937& random, int64_t most) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(most));
}

// Steps of two collectives, with some noise before each; `late` adds to a step of a rank.
template <typename Late>
FleetForTest Steps(uint32_t seed, int64_t steps, const Late& late, size_t ranks = kBlamedRanks) {
  std::mt19937 random(seed);
  FleetForTest fleet(ranks);
  for (int64_t step = 0; step < steps; ++step) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      fleet.Idle(rank, 20 * kMicro + Draw(random, 20 * kMicro));
      late(fleet, rank, step);
      fleet.Compute(rank, 30 * kMicro + Draw(random, 2 * kMicro));
    }
    fleet.JoinAll(10 * kMicro);
    for (size_t rank = 0; rank < ranks; ++rank)
      fleet.Compute(rank, 30 * kMicro + Draw(random, 2 * kMicro), "rms_norm");
    fleet.JoinAll(10 * kMicro);
  }
  return fleet;
}

std::set<size_t> Standing(const RankBlame& blame) {
  std::set<size_t> ranks;
  for (const RankBlame::Row& row : blame.table) {
    if (row.stands_out) ranks.insert(row.rank);
  }
  return ranks;
}

std::map<std::string, int64_t> CausesOf(const RankBlame::Row& row) {
  std::map<std::string, int64_t> causes;
  for (const SkewCause& cause : row.caused_by) causes[cause.Id()] = cause.time.ns;
  return causes;
}

void ExpectAddsUp(const RankBlame& blame) {
  int64_t suffered = 0, caused = 0, of_groups = 0, transfer = 0, transfer_of_groups = 0;
  for (const RankBlame::Row& row : blame.table) {
    suffered += row.suffered.ns;
    caused += row.caused.ns;
    transfer += row.transfer.ns;
    int64_t causes = 0;
    for (const SkewCause& cause : row.caused_by) {
      EXPECT_GT(cause.time.ns, 0);
      causes += cause.time.ns;
    }
    EXPECT_EQ(causes, row.caused.ns);
  }
  for (const RankBlame::Group& group : blame.groups) {
    of_groups += group.waits.ns;
    transfer_of_groups += group.transfer.ns;
  }
  EXPECT_EQ(suffered, caused);
  EXPECT_EQ(suffered, blame.waits.ns);
  EXPECT_EQ(suffered, of_groups);
  EXPECT_EQ(transfer, blame.transfer.ns);
  EXPECT_EQ(transfer, transfer_of_groups);
}

TEST(RankBlame, OneWaitIsChargedToWhatTheLastRankDidLonger) {
  FleetForTest fleet(3);
  for (int i = 0; i < 4; ++i) fleet.JoinAll(kMicro);
  fleet.Compute(0, 5 * kMicro);
  fleet.Compute(1, 5 * kMicro);
  fleet.Compute(2, 12 * kMicro);
  fleet.Idle(2, 3 * kMicro);
  fleet.Copy(2, 1 * kMicro);
  fleet.JoinAll(2 * kMicro);
  const RankBlame blame = std::move(fleet).Finish().ranks.blame;
  ASSERT_EQ(blame.absent, RankBlame::Absent::kNo);
  ExpectAddsUp(blame);
  ASSERT_EQ(blame.table.size(), 3u);
  EXPECT_EQ(blame.table[0].suffered.ns, 11 * kMicro);
  EXPECT_EQ(blame.table[2].suffered.ns, 0);
  EXPECT_EQ(blame.table[2].transfer.ns, 6 * kMicro);
  const auto causes = CausesOf(blame.table[2]);
  EXPECT_EQ(causes.at("compute.gemm.dense"), 2 * 7 * kMicro);
  EXPECT_EQ(causes.at("copies"), 2 * kMicro);
  EXPECT_EQ(causes.at("idle.unknown"), 2 * 3 * kMicro);  // nothing launched the copy
  EXPECT_EQ(blame.table[2].late.ns, 11 * kMicro);
  EXPECT_EQ(blame.table[0].late.ns, -11 * kMicro / 2);  // the others: 0 and 11 us
}

TEST(RankBlame, ALateHostStandsOut) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const size_t who = seed % kBlamedRanks;
    const RankBlame blame = Steps(seed, 60,
                                  [&](FleetForTest& fleet, size_t rank, int64_t) {
                                    if (rank == who) fleet.Idle(rank, 300 * kMicro);
                                  })
                                .Finish()
                                .ranks.blame;
    ExpectAddsUp(blame);
    EXPECT_EQ(Standing(blame), std::set{who});
    const RankBlame::Row& row = blame.table[who];
    EXPECT_NEAR(static_cast<double>(row.late.ns) / 59, 300e3, 5e3);
    EXPECT_EQ(row.caused_by.front().Id(), "idle.host-late");
    EXPECT_TRUE(row.caused_by.front().IsHost());
    EXPECT_GT(row.caused_by.front().time.ns, row.caused.ns * 9 / 10);
    EXPECT_EQ(blame.type, SkewClass::kArrivalSkew);
  }
}

TEST(RankBlame, LongerComputeStandsOutByCategory) {
  const RankBlame blame = Steps(1, 60,
                                [&](FleetForTest& fleet, size_t rank, int64_t) {
                                  if (rank == 5) fleet.Compute(rank, 50 * kMicro, "moe_gemm");
                                })
                              .Finish()
                              .ranks.blame;
  EXPECT_EQ(Standing(blame), std::set<size_t>{5});
  EXPECT_TRUE(blame.table[5].caused_by.front().Id().starts_with("compute.moe"))
      << blame.table[5].caused_by.front().Id();
}

TEST(RankBlame, TwoRanksThatAreLateByTurnsBothStandOut) {
  for (uint32_t seed = 0; seed < 10; ++seed) {
    const RankBlame blame = Steps(seed, 60,
                                  [&](FleetForTest& fleet, size_t rank, int64_t step) {
                                    if (rank == (step % 2 == 0 ? 2u : 6u))
                                      fleet.Idle(rank, 200 * kMicro);
                                  })
                                .Finish()
                                .ranks.blame;
    ExpectAddsUp(blame);
    EXPECT_EQ(Standing(blame), (std::set<size_t>{2, 6}));
  }
}

TEST(RankBlame, NobodyStandsOutByChance) {
  for (const size_t ranks : {2u, 3u, 4u, 8u, 32u}) {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const RankBlame blame = Steps(
                                  seed, 40, [](FleetForTest&, size_t, int64_t) {}, ranks)
                                  .Finish()
                                  .ranks.blame;
      ExpectAddsUp(blame);
      EXPECT_EQ(Standing(blame), std::set<size_t>()) << ranks << " " << seed;
    }
  }
}

// A long stall, once.
TEST(RankBlame, OneStallDoesNotStandOut) {
  const RankBlame blame = Steps(1, 60,
                                [&](FleetForTest& fleet, size_t rank, int64_t step) {
                                  if (rank == 2 && step == 30) fleet.Idle(rank, 50'000 * kMicro);
                                })
                              .Finish()
                              .ranks.blame;
  EXPECT_EQ(Standing(blame), std::set<size_t>());
  EXPECT_GT(blame.table[2].caused.ns, 7 * 50'000 * kMicro);
}

TEST(RankBlame, AClockThatDriftsAccusesNobody) {
  for (const int64_t ppm : {-300, 300}) {
    FleetForTest fleet = Steps(1, 60, [](FleetForTest&, size_t, int64_t) {});
    const RankBlame without = std::move(fleet).Finish().ranks.blame;
    std::mt19937 random(1);
    FleetForTest drifts(kBlamedRanks);
    drifts.Drift(3, ppm);
    for (int64_t step = 0; step < 60; ++step) {
      for (size_t rank = 0; rank < kBlamedRanks; ++rank)
        drifts.Compute(rank, 50 * kMicro + Draw(random, 20 * kMicro));
      drifts.JoinAll(10 * kMicro);
    }
    const RankBlame blame = std::move(drifts).Finish().ranks.blame;
    ASSERT_EQ(blame.absent, RankBlame::Absent::kNo);
    ExpectAddsUp(blame);
    EXPECT_EQ(Standing(blame), std::set<size_t>());
    EXPECT_GT(blame.table[3].last, 0u);
    EXPECT_LT(blame.table[3].last, 30u);
  }
}

// Ranks 0, 1 and 2, 3 are tensor-parallel, 0, 2 and 1, 3 data-parallel. Rank 1 is late for rank 0,
// so rank 0 is late for rank 2.
TEST(RankBlame, AWaitForAWaitingRankIsHandedOn) {
  FleetForTest fleet(4);
  for (int64_t step = 0; step < 40; ++step) {
    for (size_t rank = 0; rank < 4; ++rank) fleet.Compute(rank, 50 * kMicro);
    fleet.Idle(1, 100 * kMicro);
    fleet.Compute(1, kMicro, "rms_norm");
    for (int layer = 0; layer < 3; ++layer) {
      fleet.Join({0, 1}, 10 * kMicro, "tp:0");
      fleet.Join({2, 3}, 10 * kMicro, "tp:1");
    }
    fleet.Join({0, 2}, 20 * kMicro, "dp:0");
    fleet.Join({1, 3}, 20 * kMicro, "dp:1");
  }
  const RankBlame blame = std::move(fleet).Finish().ranks.blame;
  ExpectAddsUp(blame);
  ASSERT_EQ(blame.groups.size(), 4u);
  EXPECT_EQ(blame.groups[0].kind, GroupKind::kTensor);
  EXPECT_EQ(blame.groups[0].name, "tp:0");
  EXPECT_EQ(blame.groups[3].kind, GroupKind::kData);
  EXPECT_EQ(blame.groups[3].ranks, (std::vector<size_t>{1, 3}));
  EXPECT_EQ(Standing(blame), std::set<size_t>{1});
  const RankBlame::Row& late = blame.table[1];
  // Ranks 0, 2 and 3 each wait 101 us a step; the first step has no shared collective before.
  EXPECT_EQ(blame.waits.ns, 40 * 3 * 101 * kMicro);
  EXPECT_GE(late.caused.ns, 39 * 3 * 101 * kMicro);
  EXPECT_EQ(late.caused_by.front().Id(), "idle.host-late");
  EXPECT_LT(blame.table[0].caused.ns, 3 * 101 * kMicro);
}

TEST(RankBlame, AddsUpWhateverTheRanksDoAndInEachOrder) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const size_t ranks = 4 + 2 * (seed % 3);
    const auto make = [&] {
      std::mt19937 random(seed);
      FleetForTest fleet(ranks);
      std::vector<size_t> even, odd;
      for (size_t rank = 0; rank < ranks; ++rank) (rank % 2 == 0 ? even : odd).push_back(rank);
      for (int step = 0; step < 30; ++step) {
        for (size_t rank = 0; rank < ranks; ++rank) {
          fleet.Idle(rank, Draw(random, 30 * kMicro));
          fleet.Compute(rank, 1 + Draw(random, 30 * kMicro),
                        Draw(random, 2) == 0 ? "gemm" : "norm");
          if (Draw(random, 3) == 0) fleet.Copy(rank, 1 + Draw(random, 9 * kMicro));
        }
        switch (Draw(random, 3)) {
          case 0:
            fleet.Join(even, kMicro + Draw(random, 9 * kMicro), "ep:0");
            break;
          case 1:
            fleet.Join(odd, kMicro + Draw(random, 9 * kMicro), "ep:1");
            break;
          default:
            fleet.JoinAll(kMicro + Draw(random, 9 * kMicro));
        }
      }
      return fleet;
    };
    const RankBlame blame = make().Finish().ranks.blame;
    ASSERT_EQ(blame.absent, RankBlame::Absent::kNo) << seed;
    ExpectAddsUp(blame);
    std::vector<size_t> order;
    for (size_t rank = 0; rank < ranks; ++rank) order.push_back(rank);
    std::ranges::shuffle(order, std::mt19937(seed));
    const RankBlame other = make().Finish(order).ranks.blame;
    ASSERT_EQ(other.table.size(), blame.table.size());
    for (size_t i = 0; i < ranks; ++i) {
      EXPECT_EQ(other.table[i].suffered, blame.table[i].suffered);
      EXPECT_EQ(CausesOf(other.table[i]), CausesOf(blame.table[i])) << seed << " " << i;
      EXPECT_EQ(other.table[i].stands_out, blame.table[i].stands_out);
      EXPECT_EQ(other.table[i].late, blame.table[i].late);
    }
  }
}

// The classes that vllm issue 52777 asks for.
TEST(RankBlame, Classes) {
  const auto type_of = [](int64_t wait, int64_t transfer, int64_t uneven) {
    std::mt19937 random(7);
    FleetForTest fleet(2);
    for (int step = 0; step < 30; ++step) {
      fleet.Compute(0, 50 * kMicro);
      fleet.Compute(1, 50 * kMicro + wait);
      std::vector<int64_t> ends{0, 0};
      if (uneven > 0) ends[1] = Draw(random, uneven);
      fleet.Join({0, 1}, transfer, "tp", ends);
    }
    return std::move(fleet).Finish().ranks.blame;
  };
  const RankBlame transfer = type_of(5 * kMicro, 100 * kMicro, 0);
  EXPECT_EQ(transfer.type, SkewClass::kTransfer);
  EXPECT_EQ(transfer.groups.at(0).type, SkewClass::kTransfer);
  EXPECT_EQ(transfer.of_class[static_cast<size_t>(SkewClass::kTransfer)], 30u);
  EXPECT_EQ(type_of(900 * kMicro, 100 * kMicro, 0).type, SkewClass::kArrivalSkew);
  EXPECT_EQ(type_of(200 * kMicro, 100 * kMicro, 0).type, SkewClass::kMixed);
  const RankBlame vague = type_of(34 * kMicro, 15 * kMicro, 40 * kMicro);
  EXPECT_EQ(vague.type, SkewClass::kInconclusive)
      << vague.transfer.ns << " " << vague.waits.ns << " " << vague.residual.ns;
  EXPECT_GT(vague.residual.ns, 5 * kMicro);
  ExpectAddsUp(vague);
}

TEST(RankBlame, AWaitThatTheClocksCannotShowHasNoCause) {
  std::mt19937 random(7);
  FleetForTest fleet(2);
  for (int step = 0; step < 60; ++step) {
    fleet.Compute(0, 50 * kMicro);
    fleet.Compute(1, 51 * kMicro);
    fleet.Join({0, 1}, 100 * kMicro, "tp", {0, Draw(random, 20 * kMicro)});
  }
  const RankBlame blame = std::move(fleet).Finish().ranks.blame;
  ExpectAddsUp(blame);
  int64_t too_short = 0;
  for (const RankBlame::Row& row : blame.table) too_short += CausesOf(row)["too-short"];
  EXPECT_GT(too_short, 0);
}

TEST(RankBlame, AbsentWithTheReason) {
  using Absent = RankBlame::Absent;
  FleetForTest none(2);
  none.Compute(0, kMicro);
  none.Compute(1, kMicro);
  EXPECT_EQ(std::move(none).Finish().ranks.blame.absent, Absent::kNoCollectives);
  FleetForTest unequal(2);
  for (int i = 0; i < 5; ++i) unequal.JoinAll(kMicro);
  unequal.Join({0}, kMicro);
  EXPECT_EQ(std::move(unequal).Finish().ranks.blame.absent, Absent::kNoMatch);
  FleetForTest clocks(2);
  std::mt19937 random(3);
  for (int i = 0; i < 9; ++i) {
    clocks.Compute(0, 1'000 * kMicro);
    clocks.Compute(1, 1'000 * kMicro);
    clocks.Join({0, 1}, 50 * kMicro, "tp", {0, Draw(random, 900 * kMicro)});
  }
  EXPECT_EQ(std::move(clocks).Finish().ranks.blame.absent, Absent::kClocks);
  RunAnalysis read_back;
  for (int i = 0; i < 2; ++i) {
    read_back.traces.emplace_back().path = std::to_string(i);
    read_back.traces.back().facts.role = TraceRole::kWorker;
  }
  AnalyzeRun(read_back);
  EXPECT_EQ(read_back.ranks.blame.absent, Absent::kNoEvents);
}

}  // namespace
}  // namespace tacho
