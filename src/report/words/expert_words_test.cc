#include "report/words/expert_words.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

// Two ranks with windows of 100 ms and 10 steps.
RankTable TwoRanksWithExperts() {
  RankTable ranks;
  for (int64_t i = 0; i < 2; ++i) {
    RankRow& row = ranks.rows.emplace_back();
    row.path = std::to_string(i);
    row.rank = row.identity.rank = row.identity.tensor = i;
    row.window = {100'000'000};
  }
  ExpertBalance& experts = ranks.blame.experts;
  experts.layers = experts.exchanged = 40;
  experts.steps = 10;
  experts.slowest = {12'000'000};
  experts.above_mean = {2'000'000};
  experts.waits = {4'000'000};
  experts.table.resize(2);
  experts.table[1].rank = 1;
  for (ExpertBalance::Row& row : experts.table) row.others = 1;
  experts.table[1].longer = {4'000'000};
  experts.table[1].caused = {3'900'000};
  return ranks;
}

TEST(ExpertsText, NamesTheRankThatStandsOut) {
  RankTable ranks = TwoRanksWithExperts();
  EXPECT_EQ(ExpertsText(ranks),
            "grouped GEMMs: equal experts would save up to 200 us a step (imbalance 1.20)");
  ranks.blame.experts.table[1].stands_out = true;
  EXPECT_EQ(ExpertsText(ranks),
            "grouped GEMMs: those of TP1 take 400 us a step longer than the mean of the others, "
            "who each wait 390 us a step for them; equal experts would save up to 200 us a step "
            "(imbalance 1.20)");
  ranks.blame.experts.exchanged = 0;
  ranks.blame.experts.steps = 0;
  EXPECT_EQ(
      ExpertsText(ranks),
      "grouped GEMMs: those of TP1 take 4.00 ms in all longer than the mean of the others, who "
      "each wait 3.90 ms in all for them; equal experts would save up to 2.00 ms in all "
      "(imbalance 1.20); no combine follows them, so the waits are in all-reduces or "
      "barriers");
}

TEST(ExpertsText, SaysNothingOfWaitsThatAreNotWorthIt) {
  RankTable ranks = TwoRanksWithExperts();
  ranks.blame.experts.waits = {1'900'000};
  EXPECT_EQ(ExpertsText(ranks), "");
  EXPECT_EQ(ExpertsText(RankTable{}), "");
}

}  // namespace
}  // namespace tacho
