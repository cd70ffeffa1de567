#include "report/rank_text.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

RankTable Missing(std::vector<RankRange> ranges) {
  RankTable table;
  table.world_size = 100;
  for (const RankRange& range : ranges) table.missing_count += range.last - range.first + 1;
  table.missing = std::move(ranges);
  return table;
}

TEST(MissingRanks, AreRangesWithACount) {
  EXPECT_EQ(MissingRanksText(Missing({})), "");
  EXPECT_EQ(MissingRanksText(Missing({{2, 2}})), "2");
  EXPECT_EQ(MissingRanksText(Missing({{1, 1}, {3, 3}})), "1, 3");
  EXPECT_EQ(MissingRanksText(Missing({{2, 7}, {9, 9}})), "2-7, 9 (7 in all)");
  std::vector<RankRange> many;
  for (int64_t rank = 0; rank < 100; rank += 2) many.push_back({rank, rank});
  EXPECT_EQ(MissingRanksText(Missing(many)), "0, 2, 4, 6, 8, 10, 12, 14, ... (50 in all)");
}

TEST(MissingRanks, CountIsTrueWhateverTheHeaderClaims) {
  RankTable table = Missing({{2, 8'999'999'999'999}});
  table.world_size = 9'000'000'000'000;
  EXPECT_EQ(MissingCountText(table), "8,999,999,999,998 of 9,000,000,000,000 ranks missing");
  EXPECT_EQ(MissingCountText({}), "");
}

}  // namespace
}  // namespace tacho
