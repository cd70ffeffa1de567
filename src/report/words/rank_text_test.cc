#include "report/words/rank_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/tables/result_tables.h"

namespace tacho {
namespace {

MissingRanks Missing(std::vector<RankRange> ranges) {
  MissingRanks missing{"", 100, 1, std::move(ranges), 0};
  for (const RankRange& range : missing.ranks) missing.count += range.last - range.first + 1;
  return missing;
}

TEST(MissingRanks, AreRangesWithACount) {
  EXPECT_EQ(MissingRanksText(RankTable{}), "");
  EXPECT_EQ(MissingRanksText(Missing({{2, 2}})), "rank 2");
  EXPECT_EQ(MissingRanksText(Missing({{1, 1}, {3, 3}})), "rank 1, 3");
  EXPECT_EQ(MissingRanksText(Missing({{2, 7}, {9, 9}})), "rank 2-7, 9 (7 in all)");
  std::vector<RankRange> many;
  for (int64_t rank = 0; rank < 100; rank += 2) many.push_back({rank, rank});
  EXPECT_EQ(MissingRanksText(Missing(many)), "rank 0, 2, 4, 6, 8, 10, 12, 14, ... (50 in all)");
}

TEST(SessionsOfRanks, TellRowsOfOneNameApart) {
  RankTable table;
  for (const char* time : {"143151", "143159"}) {
    for (const char* rank : {"0", "1"}) {
      RankRow& row = table.rows.emplace_back();
      row.path =
          std::string("tr/tacho-20261123-") + time + "-w0_rank" + rank + ".1795.pt.trace.json";
      row.identity.worker = "w0";
      row.identity.rank = *rank - '0';
    }
  }
  EXPECT_THAT(SessionsOfRanks(table),
              testing::ElementsAre("tacho-20261123-143151", "tacho-20261123-143151",
                                   "tacho-20261123-143159", "tacho-20261123-143159"));
  const Table shown = RanksTable(table, {.width = 80});
  const std::string text = RenderText(shown, {.width = 80});
  EXPECT_THAT(text, testing::HasSubstr(" tacho-20261123-143159 "));
  table.rows[3].identity.rank = 0;  // two files of one rank in the same session
  EXPECT_THAT(SessionsOfRanks(table), testing::IsEmpty());
  table.rows.resize(1);
  table.rows[0].path = "rank0.1795.pt.trace.json";
  EXPECT_THAT(SessionsOfRanks(table), testing::IsEmpty());
}

TEST(StragglerText, NamesTheOnlyOtherRank) {
  RankTable table;
  for (int64_t rank = 0; rank < 2; ++rank) {
    RankRow& row = table.rows.emplace_back();
    row.identity.rank = rank;
    row.group = static_cast<size_t>(rank);
  }
  Straggler straggler{.sign = Straggler::Sign::kLeastCollectives,
                      .row = 1,
                      .time = {2'730'000},
                      .others = {21'500'000},
                      .only_other = 0};
  EXPECT_EQ(StragglerText(table, straggler),
            "rank 1 is in collectives for 2.73 ms, rank 0 for 21.5 ms: rank 0 may be waiting for "
            "rank 1");
  straggler.only_other.reset();
  EXPECT_THAT(StragglerText(table, straggler), testing::HasSubstr("the median of the others"));
}

TEST(MissingRanks, NameTheirEngine) {
  RankTable table;
  table.missing = {{"", 2, 3, {{1, 1}}, 2}, {"w1\n", 2, 1, {{0, 0}}, 1}};
  EXPECT_EQ(MissingRanksText(table), "rank 1 (2 in all) of 3 engines; w1\\n rank 0");
  table.missing.assign(10, {"w", 2, 1, {{0, 0}}, 1});
  EXPECT_THAT(MissingRanksText(table), testing::EndsWith("w rank 0; ... (10 in all)"));
}

TEST(MissingRanks, CountIsTrueWhateverTheHeaderClaims) {
  RankTable table;
  table.missing = {Missing({{2, 8'999'999'999'999}})};
  table.ranks_in_all = 9'000'000'000'000;
  EXPECT_EQ(MissingCountText(table), "8,999,999,999,998 of 9,000,000,000,000 ranks missing");
  EXPECT_EQ(MissingCountText({}), "");
}

}  // namespace
}  // namespace tacho
