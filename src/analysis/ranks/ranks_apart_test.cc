#include "analysis/ranks/ranks_apart.h"

#include <gtest/gtest.h>

#include <set>

namespace tacho {
namespace {

// Ranks that are busy for 54.2 to 54.7 % of their windows, in workers of eight.
RankTable AlikeRanks(size_t count) {
  RankTable table;
  for (size_t i = 0; i < count; ++i) {
    RankRow& row = table.rows.emplace_back();
    row.path = "rank" + std::to_string(i);
    row.rank = static_cast<int64_t>(i);
    row.identity.rank = row.rank;
    row.identity.worker = "w" + std::to_string(i / 8);
    row.window = {1'000'000};
    row.compute = {500'000};
    row.busy = {542'000 + static_cast<int64_t>(i % 6) * 1'000};
    row.exposed_comm = row.busy - row.compute;
    row.idle = row.window - row.busy;
  }
  return table;
}

TEST(RanksApart, AlikeRanksAreALineOfEachWorker) {
  const RanksApart ranks = FindRanksApart(AlikeRanks(96));
  EXPECT_TRUE(ranks.apart.empty());
  ASSERT_EQ(ranks.rest.size(), 12u);
  EXPECT_EQ(ranks.rest[0].worker, "w0");
  EXPECT_EQ(ranks.rest[11].worker, "w11");
  for (const RanksApart::Rest& rest : ranks.rest) {
    EXPECT_EQ(rest.ranks, 8u);
    EXPECT_GE(rest.least_busy, 0.542);
    EXPECT_LE(rest.most_busy, 0.547);
    EXPECT_LE(rest.least_busy, rest.most_busy);
  }
}

TEST(RanksApart, EachRankThatDiffersSaysInWhat) {
  RankTable table = AlikeRanks(64);
  table.rows[9].busy = {300'000};
  table.rows[9].idle = {700'000};
  table.rows[9].compute = {290'000};
  table.rows[9].exposed_comm = {10'000};
  table.rows[20].compute = {530'000};
  table.rows[20].exposed_comm = table.rows[20].busy - table.rows[20].compute;
  table.rows[30].window = {};
  table.rows[31].complete = false;
  const RanksApart ranks = FindRanksApart(table);
  ASSERT_EQ(ranks.apart.size(), 4u);
  EXPECT_EQ(ranks.apart[0].row, 31u);
  EXPECT_EQ(ranks.apart[0].figure, RanksApart::Figure::kLost);
  EXPECT_EQ(ranks.apart[1].row, 30u);
  EXPECT_EQ(ranks.apart[1].figure, RanksApart::Figure::kNoWork);
  EXPECT_EQ(ranks.apart[2].row, 9u);
  EXPECT_EQ(ranks.apart[2].figure, RanksApart::Figure::kBusy);
  EXPECT_DOUBLE_EQ(ranks.apart[2].own, 0.3);
  EXPECT_EQ(ranks.apart[3].row, 20u);
  EXPECT_EQ(ranks.apart[3].figure, RanksApart::Figure::kCompute);
  size_t all = ranks.apart.size();
  for (const RanksApart::Rest& rest : ranks.rest) all += rest.ranks;
  EXPECT_EQ(all, 64u);
}

TEST(RanksApart, TheOneThatOthersWaitForComesFirst) {
  RankTable table = AlikeRanks(16);
  table.rows[3].window = {};
  table.blame.absent = RankBlame::Absent::kNo;
  table.blame.matched_share = 1;
  RankBlame::Row& row = table.blame.table.emplace_back();
  row.rank = 12;
  row.caused = {1'500'000};
  row.stands_out = true;
  row.caused_by = {{.kind = SkewCause::Kind::kCopies, .time = {1'500'000}}};
  RankBlame::Group& group = table.blame.groups.emplace_back();
  for (size_t i = 0; i < 16; ++i) group.ranks.push_back(i);
  const RanksApart ranks = FindRanksApart(table);
  ASSERT_EQ(ranks.apart.size(), 2u);
  EXPECT_EQ(ranks.apart[0].row, 12u);
  EXPECT_EQ(ranks.apart[0].figure, RanksApart::Figure::kWaitedFor);
  EXPECT_NEAR(ranks.apart[0].own, 1.5 / 14, 1e-9);
}

}  // namespace
}  // namespace tacho
