#include "analysis/ranks/matched_collectives.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "model/trace_builder.h"

namespace tacho {
namespace {

constexpr int64_t kUs = 1000, kRanks = 4, kSteps = 20;

const Classifier& CommRules() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

// A rank with series of its own, which a test may change.
struct OwnedRank {
  RankIdentity identity = {};
  DurationNs offset = {};
  std::vector<CommSeries> series = {};
};
MatchedCollectives MatchOwned(const std::vector<OwnedRank>& owned) {
  std::vector<CommRank> ranks;
  for (const OwnedRank& rank : owned)
    ranks.push_back(
        {rank.identity, rank.offset, std::make_shared<const std::vector<CommSeries>>(rank.series)});
  return MatchCollectives(ranks);
}

OwnedRank CommRankOf(int64_t number, Trace trace) {
  OwnedRank rank;
  rank.identity.rank = number;
  rank.series = *CollectCommunication(trace, CommRules());
  return rank;
}

// Ranks that all reduce every 100 us and begin up to 40 us before the end. A random rank starts
// each reduction last. The ends differ by up to `noise`.
std::vector<OwnedRank> Deployment(uint32_t seed, int64_t noise = 0, int64_t ranks = kRanks) {
  std::mt19937 random(seed);
  std::vector<TraceBuilder> traces(static_cast<size_t>(ranks));
  for (int64_t step = 0; step < kSteps; ++step) {
    const int64_t end = (step + 1) * 100 * kUs;
    for (TraceBuilder& trace : traces) {
      const int64_t start = end - 5 * kUs - static_cast<int64_t>(random() % (35 * kUs));
      const int64_t late = noise > 0 ? static_cast<int64_t>(random()) % noise : 0;
      trace.Kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
                   {.start = start, .duration = end + late - start});
      trace.Kernel("gemm", {.start = end + 10 * kUs, .duration = 20 * kUs});
    }
  }
  std::vector<OwnedRank> result;
  for (int64_t i = 0; i < ranks; ++i)
    result.push_back(CommRankOf(i, std::move(traces[static_cast<size_t>(i)]).Finish()));
  return result;
}

// With sequence numbers, as newer versions of PyTorch write them.
std::vector<OwnedRank> Numbered(std::vector<OwnedRank> ranks) {
  for (OwnedRank& rank : ranks) {
    for (CommSeries& series : rank.series) {
      for (size_t i = 0; i < series.kernels.size(); ++i)
        series.kernels[i].sequence = static_cast<int64_t>(i);
    }
  }
  return ranks;
}

// The kernels and ranks that were matched, without order.
std::set<std::set<std::pair<int64_t, uint32_t>>> MatchedRows(const std::vector<OwnedRank>& ranks,
                                                             const MatchedCollectives& matched) {
  std::set<std::set<std::pair<int64_t, uint32_t>>> rows;
  for (const Collective& collective : matched.collectives) {
    std::set<std::pair<int64_t, uint32_t>> parts;
    for (const auto& part : collective.parts)
      parts.emplace(*ranks[part.rank].identity.rank, part.row);
    rows.insert(std::move(parts));
  }
  return rows;
}

TEST(MatchedCollectives, LateStartsChangeNothing) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const MatchedCollectives matched = MatchOwned(Deployment(seed));
    ASSERT_EQ(matched.collectives.size(), kSteps);
    EXPECT_EQ(matched.unmatched, 0u);
    ASSERT_EQ(matched.residuals.size(), kRanks - 1);
    for (const ClockResidual& residual : matched.residuals)
      EXPECT_EQ(residual, (ClockResidual{residual.rank, 0, {}, {}, kSteps}));
  }
}

TEST(MatchedCollectives, AShiftedClockIsTheResidualOfItsRankAlone) {
  std::mt19937 random(1);
  for (uint32_t seed = 0; seed < 50; ++seed) {
    std::vector<OwnedRank> ranks = Numbered(Deployment(seed, 3 * kUs));
    const MatchedCollectives before = MatchOwned(ranks);
    const size_t rank = 1 + random() % (kRanks - 1);
    const DurationNs by{static_cast<int64_t>(random() % 3'800'000) - 1'900'000};
    ranks[rank].offset += by;
    const MatchedCollectives after = MatchOwned(ranks);
    ASSERT_EQ(after.residuals.size(), kRanks - 1);
    for (size_t i = 0; i < after.residuals.size(); ++i) {
      ClockResidual expected = before.residuals[i];
      if (expected.rank == rank) expected.ahead += by;
      EXPECT_EQ(after.residuals[i], expected);
    }
    EXPECT_EQ(MatchedRows(ranks, after), MatchedRows(ranks, before));
    for (size_t i = 0; i < after.collectives.size(); ++i) {
      const Collective &one = before.collectives[i], &other = after.collectives[i];
      EXPECT_EQ(one.last, other.last);
      for (size_t part = 0; part < one.parts.size(); ++part)
        EXPECT_EQ(one.Wait(one.parts[part]), other.Wait(other.parts[part]));
    }
  }
}

// Without sequence numbers, a rank that missed the first collective and recorded one more at the
// end looks like a rank whose clock is behind.
TEST(MatchedCollectives, NothingIsSaidOfClocksFurtherApartThanCollectives) {
  std::vector<OwnedRank> ranks = Deployment(1, 0, 2);
  auto& first = ranks[0].series[0].kernels;
  auto& second = ranks[1].series[0].kernels;
  first.pop_back();
  second.erase(second.begin());
  EXPECT_TRUE(MatchOwned(ranks).residuals.empty());
  EXPECT_TRUE(MatchOwned(ranks).collectives.empty());
  ranks = Deployment(1, 0, 2);
  ranks[1].offset = {49 * kUs};
  EXPECT_EQ(MatchOwned(ranks).residuals.at(0).ahead, DurationNs{49 * kUs});
  ranks[1].offset = {51 * kUs};
  EXPECT_TRUE(MatchOwned(ranks).residuals.empty());
}

TEST(MatchedCollectives, OrderOfRanksDoesNotMatter) {
  std::vector<OwnedRank> ranks = Deployment(3, 2 * kUs);
  ranks[2].offset = {20 * kUs};
  const MatchedCollectives before = MatchOwned(ranks);
  const auto rows = MatchedRows(ranks, before);
  std::swap(ranks[1], ranks[3]);
  const MatchedCollectives after = MatchOwned(ranks);
  EXPECT_EQ(MatchedRows(ranks, after), rows);
  EXPECT_EQ(after.residuals[0].ahead, before.residuals[2].ahead);
  EXPECT_EQ(after.residuals[1].ahead, before.residuals[1].ahead);
  std::ranges::reverse(ranks);
  EXPECT_EQ(MatchedRows(ranks, MatchOwned(ranks)), rows);
}

TEST(MatchedCollectives, WaitIsUntilTheLastStarts) {
  TraceBuilder early, late;
  for (int64_t i = 0; i < 3; ++i) {
    early.Kernel("ncclDevKernel_AllReduce", {.start = i * 1000, .duration = 500});
    late.Kernel("ncclDevKernel_AllReduce", {.start = i * 1000 + 420, .duration = 80});
  }
  const auto matched = MatchOwned(
      {CommRankOf(0, std::move(early).Finish()), CommRankOf(1, std::move(late).Finish())});
  const auto [collective, part] = matched.Find(0, 1);
  ASSERT_NE(collective, nullptr);
  EXPECT_EQ(collective->Wait(*part).ns, 420);
  EXPECT_EQ(collective->parts[collective->last].rank, 1u);
  EXPECT_EQ(collective->Wait(collective->parts[1]).ns, 0);
  EXPECT_EQ(matched.Find(0, 3).first, nullptr);
  EXPECT_EQ(matched.Find(2, 0).first, nullptr);
}

// Ranks 0 and 1 with kernels of two names. Rank 1 lacks one kernel of the name `lacks`.
MatchedCollectives WithLack(std::string_view lacks, TraceBuilder::Arguments reduce = {},
                            std::vector<std::string> sequence = {}) {
  std::vector<OwnedRank> ranks;
  for (int64_t rank = 0; rank < 2; ++rank) {
    TraceBuilder trace;
    for (int64_t i = 0; i < 6; ++i) {
      const std::string_view name =
          i % 2 == 0 ? "ncclDevKernel_AllReduce" : "ncclDevKernel_AllGather";
      if (rank == 1 && i < 2 && name == lacks) continue;
      auto args = i % 2 == 0 ? reduce : TraceBuilder::Arguments{};
      if (i % 2 == 0 && !sequence.empty())
        args.emplace_back("Seq", sequence[static_cast<size_t>(i)]);
      trace.Kernel(name, {.start = i * 1000, .duration = 500, .args = args});
    }
    ranks.push_back(CommRankOf(rank, std::move(trace).Finish()));
  }
  return MatchOwned(ranks);
}

TEST(MatchedCollectives, AGroupThatLacksOneIsLeftOut) {
  EXPECT_EQ(WithLack("").collectives.size(), 6u);
  const MatchedCollectives matched = WithLack("ncclDevKernel_AllReduce");
  EXPECT_EQ(matched.collectives.size(), 3u);
  EXPECT_EQ(matched.kernels, 11u);
  EXPECT_EQ(matched.unmatched, 5u);
  EXPECT_EQ(matched.residuals.size(), 1u);
}

TEST(MatchedCollectives, SequenceNumbersTellWhichOneIsLacking) {
  const TraceBuilder::Arguments group = {{"Collective name", "\"allreduce\""},
                                         {"Process Group Name", "\"2\""},
                                         {"Process Group Ranks", "\"[0, 1]\""}};
  EXPECT_EQ(WithLack("ncclDevKernel_AllReduce", group).collectives.size(), 3u);
  const auto matched = WithLack("ncclDevKernel_AllReduce", group, {"10", "", "11", "", "12", ""});
  EXPECT_EQ(matched.collectives.size(), 5u);
  EXPECT_EQ(matched.unmatched, 1u);
}

// Two groups of two ranks. Their kernels have the same name and number.
TEST(MatchedCollectives, ProcessGroupsAreMatchedApart) {
  std::vector<OwnedRank> ranks;
  for (int64_t rank = 0; rank < 4; ++rank) {
    const std::string members = rank < 2 ? "\"[0, 1]\"" : "\"[2, 3]\"";
    TraceBuilder trace;
    for (int64_t i = 0; i < 5; ++i) {
      trace.Kernel("ncclDevKernel_AllReduce", {.start = i * 1000 + (rank < 2 ? 0 : i * 300),
                                               .duration = 500,
                                               .args = {{"Collective name", "\"allreduce\""},
                                                        {"Process Group Name", "\"tp\""},
                                                        {"Process Group Ranks", members}}});
    }
    ranks.push_back(CommRankOf(rank, std::move(trace).Finish()));
  }
  const MatchedCollectives matched = MatchOwned(ranks);
  EXPECT_EQ(matched.collectives.size(), 10u);
  ASSERT_EQ(matched.residuals.size(), 2u);
  EXPECT_EQ(matched.residuals[0], (ClockResidual{1, 0, {}, {}, 5}));
  EXPECT_EQ(matched.residuals[1], (ClockResidual{3, 2, {}, {}, 5}));
}

TEST(MatchedCollectives, WhatCannotBeToldIsAbsent) {
  std::vector<OwnedRank> ranks = Deployment(1);
  for (OwnedRank& rank : ranks) rank.series[0].kernels.resize(2);  // fewer than 3 collectives
  EXPECT_TRUE(MatchOwned(ranks).residuals.empty());
  EXPECT_TRUE(MatchOwned(ranks).collectives.empty());
  EXPECT_EQ(MatchOwned(ranks).unmatched, 8u);

  ranks = Deployment(1, 0, 2);
  ranks[1] = Deployment(2, 10'000 * kUs, 1)[0];  // ends at other times
  EXPECT_TRUE(MatchOwned(ranks).residuals.empty());

  ranks = Deployment(1);
  ranks[1].identity.rank = 0;  // replicas
  EXPECT_TRUE(MatchOwned(ranks).residuals.empty());
  ranks[0].identity.data_parallel = ranks[2].identity.data_parallel = 0;
  ranks[1].identity.data_parallel = ranks[3].identity.data_parallel = 1;
  EXPECT_EQ(MatchOwned(ranks).residuals.size(), 2u);

  ranks = Deployment(1, 0, 2);
  ranks[1].offset = {10 * kNsPerSecond};  // recorded after the other
  EXPECT_TRUE(MatchOwned(ranks).residuals.empty());
  EXPECT_TRUE(MatchOwned({}).residuals.empty());
}

TEST(MatchedCollectives, DamagedTimesAreHarmless) {
  std::vector<OwnedRank> ranks = Deployment(1);
  for (size_t i = 0; i < ranks.size(); ++i) {
    const int64_t t = i % 2 == 0 ? INT64_MAX : INT64_MIN;
    for (CommKernel& kernel : ranks[i].series[0].kernels) kernel.when = {{t}, {t}};
  }
  // Clocks that are 584 years apart are not those of one recording.
  MatchedCollectives matched = MatchOwned(ranks);
  EXPECT_TRUE(matched.collectives.empty());
  EXPECT_EQ(matched.unmatched, matched.kernels);
  EXPECT_EQ(matched.residuals.size(), 2u) << "of the ranks that are near each other";
  for (const ClockResidual& residual : matched.residuals)
    EXPECT_EQ(residual, (ClockResidual{residual.rank, residual.rank - 2, {}, {}, kSteps}));

  // Offsets that bring the ranks to one time, with the smallest and the largest possible values.
  for (size_t i = 0; i < ranks.size(); ++i) ranks[i].offset = {i % 2 == 0 ? INT64_MIN : INT64_MAX};
  matched = MatchOwned(ranks);
  ASSERT_EQ(matched.residuals.size(), kRanks - 1);
  for (const ClockResidual& residual : matched.residuals)
    EXPECT_EQ(residual, (ClockResidual{residual.rank, 0, {}, {}, kSteps}));
  EXPECT_EQ(matched.collectives.size(), kSteps);
  for (const Collective& collective : matched.collectives)
    for (const Collective::Part& part : collective.parts) EXPECT_EQ(collective.Wait(part).ns, 0);

  ranks = Deployment(1);
  ranks[1].series[0].kernels[0].when = {{INT64_MIN}, {INT64_MAX}};
  EXPECT_EQ(MatchOwned(ranks).residuals.size(), kRanks - 1);
}

}  // namespace
}  // namespace tacho
