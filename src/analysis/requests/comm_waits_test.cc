#include "analysis/requests/comm_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace tacho {
namespace {

using testing::ElementsAre;

Interval At(int64_t start, int64_t end) { return {{start}, {end}}; }

// Steps whose work is in these intervals, with this much exposed communication in each.
StepCells CellsOf(const std::vector<std::pair<Interval, int64_t>>& steps) {
  StepCells cells;
  for (const auto& [work, comm] : steps) {
    cells.steps.push_back({work, true});
    cells.cells.emplace_back();
    cells.cells.emplace_back().comm = {comm};
  }
  return cells;
}

std::vector<CommSeries> SeriesOf(const std::vector<Interval>& kernels) {
  std::vector<CommSeries> all(1);
  for (const Interval& when : kernels)
    all[0].kernels.push_back({static_cast<uint32_t>(all[0].kernels.size()), 0, when});
  return all;
}

TEST(SkewOfCells, IsTheWaitInEachCell) {
  const StepCells cells = CellsOf({{At(0, 100), 40}, {At(150, 250), 30}});
  const auto series = SeriesOf({At(10, 50), At(200, 230)});
  EXPECT_THAT(SkewOfCells(cells, series, {At(10, 35), At(200, 205)}),
              ElementsAre(DurationNs{0}, DurationNs{25}, DurationNs{0}, DurationNs{5}));
  EXPECT_THAT(SkewOfCells(cells, series, {}), testing::Each(DurationNs{0}));
}

TEST(SkewOfCells, WhatComputeMayHaveHiddenIsNotCounted) {
  // 10 of the 40 are hidden: the wait of 25 is exposed for 15 at least.
  const StepCells cells = CellsOf({{At(0, 100), 30}});
  const auto series = SeriesOf({At(10, 50)});
  EXPECT_EQ(SkewOfCells(cells, series, {At(10, 35)})[1].ns, 15);
  EXPECT_EQ(SkewOfCells(cells, series, {At(10, 20)})[1].ns, 0);
}

TEST(WaitsOf, TheShortestPartDoesNotWait) {
  MatchedCollectives matched;
  Collective& collective = matched.collectives.emplace_back();
  collective.parts = {{0, 0, {1'010}, {50}}, {1, 0, {1'030}, {30}}, {2, 0, {1'040}, {20}}};
  std::vector<CommRank> ranks(3);
  // The clocks of the traces differ.
  for (int64_t i = 0; i < 3; ++i)
    ranks[static_cast<size_t>(i)].series =
        std::make_shared<const std::vector<CommSeries>>(SeriesOf({At(1000 * i, 1000 * i + 50)}));
  EXPECT_THAT(WaitsOf(0, matched, ranks), ElementsAre(At(0, 30)));
  EXPECT_THAT(WaitsOf(1, matched, ranks), ElementsAre(At(1'000, 1'010)));
  EXPECT_TRUE(WaitsOf(2, matched, ranks).empty());
}

// Whatever the waits are, no cell has more than its exposed communication.
TEST(SkewOfCells, IsNeverMoreThanTheExposedCommunication) {
  std::mt19937 random(7);
  const auto pick = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(0, most)(random);
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::pair<Interval, int64_t>> steps;
    std::vector<Interval> kernels, waits;
    int64_t at = pick(50);
    for (int64_t step = pick(5); step >= 0; --step) {
      const int64_t end = at + pick(100);
      steps.emplace_back(At(at, end), pick(end - at));
      at = end + pick(30);
    }
    for (int64_t i = pick(8); i > 0; --i) {
      const int64_t start = pick(at), length = pick(60);
      kernels.push_back(At(start, start + length));
      waits.push_back(At(start, start + pick(length)));
    }
    const StepCells cells = CellsOf(steps);
    const auto skew = SkewOfCells(cells, SeriesOf(kernels), waits);
    for (size_t i = 0; i < skew.size(); ++i) {
      EXPECT_GE(skew[i].ns, 0);
      EXPECT_LE(skew[i], cells.cells[i].comm);
    }
  }
}

}  // namespace
}  // namespace tacho
