#include "view/viewed_run.h"

#include <gtest/gtest.h>

#include <thread>

#include "view/viewed_for_test.h"

namespace tacho {
namespace {

constexpr int64_t kBase = 1'700'000'000 * kNsPerSecond;

// A trace with one kernel of 10 ns. `base`: the Unix time at which its clock is 0; -1 for none.
std::unique_ptr<ViewedRank> RankAt(int64_t start, int64_t base, std::string path = "rank") {
  TraceBuilder builder;
  builder.header().base_time_ns = base;
  builder.Kernel("k", {.start = start, .duration = 10});
  return MakeViewedRank(std::move(path), std::move(builder).Finish());
}

std::unique_ptr<ViewedRank> EmptyRank() { return MakeViewedRank("empty", TraceBuilder().Finish()); }

TEST(ViewedRun, RanksInUnixTimeAreOnOneClock) {
  ViewedRun run({"a", "b", "c"});
  EXPECT_EQ(run.Add(RankAt(500, kBase), 0), std::vector<size_t>{0});
  run.Add(RankAt(400, kBase + 1000), 1);
  run.Add(RankAt(100, kBase), 2);
  const ReadRanks ranks = run.ranks();
  EXPECT_EQ(ranks[0]->span(), (Interval{{0}, {10}}));
  EXPECT_EQ(ranks[1]->span(), (Interval{{900}, {910}}));
  EXPECT_EQ(ranks[2]->span(), (Interval{{-400}, {-390}}));
  EXPECT_EQ(ranks[1]->ToTrace(TimeNs{900}).ns, 400);
  EXPECT_TRUE(run.clock().shared);
  EXPECT_EQ(SpanOf(ranks), (Interval{{-400}, {910}}));
}

// In traces from before 2024 the events themselves are in Unix time.
TEST(ViewedRun, EventsInUnixTime) {
  ViewedRun run({"a", "b"});
  run.Add(RankAt(kBase + 7, -1), 0);
  run.Add(RankAt(30, kBase), 1);
  EXPECT_EQ(run.ranks()[1]->span().start.ns, 23);
  EXPECT_TRUE(run.clock().shared);
}

TEST(ViewedRun, WhatCannotBePlacedBeginsAtZero) {
  ViewedRun run({"a", "b", "c"});
  run.Add(RankAt(500, kBase), 0);
  EXPECT_TRUE(run.clock().shared);
  run.Add(RankAt(700, kBase + 3600 * kNsPerSecond), 1);  // another job
  EXPECT_FALSE(run.clock().shared);
  EXPECT_EQ(run.ranks()[1]->span().start.ns, 0);

  ViewedRun without({"a", "b"});
  without.Add(RankAt(500, -1), 0);
  without.Add(RankAt(700, -1), 1);
  EXPECT_FALSE(without.clock().shared);
  EXPECT_EQ(without.ranks()[1]->span().start.ns, 0);
}

TEST(ViewedRun, TimesDoNotDependOnTheOrderOfReading) {
  for (const bool empty_first : {false, true}) {
    ViewedRun run({"a", "b", "c"});
    EXPECT_TRUE(run.Add(RankAt(700, kBase), 2).empty());
    EXPECT_EQ(run.entries()[2].state, RankState::kWaiting);
    EXPECT_TRUE(run.Add(RankAt(600, kBase), 1).empty());
    EXPECT_EQ(empty_first ? run.Add(EmptyRank(), 0) : run.Fail("cut", 0),
              (std::vector<size_t>{0, 1, 2}));
    EXPECT_EQ(run.ranks()[1]->span().start.ns, 0);
    EXPECT_EQ(run.ranks()[2]->span().start.ns, 100);
    EXPECT_EQ(run.entries()[0].state, empty_first ? RankState::kRead : RankState::kFailed);
  }
}

TEST(ViewedRun, ARankThatFailsLaterCountsNoMore) {
  ViewedRun run({"a", "b", "c"});
  run.Add(RankAt(500, kBase), 0);
  run.Add(RankAt(700, kBase + 3600 * kNsPerSecond), 1);  // another session
  run.Add(RankAt(600, kBase), 2);
  const ReadRanks before = run.ranks();
  const ViewedRank& kept = *before[1];
  EXPECT_FALSE(run.clock().shared);
  EXPECT_EQ(run.Fail("of another session", 1), std::vector<size_t>{1});
  const ReadRanks ranks = run.ranks();
  ASSERT_EQ(ranks.size(), 3u);
  EXPECT_TRUE(ranks[0]);
  EXPECT_FALSE(ranks[1]);
  EXPECT_FALSE(run.entries()[1].rank);
  EXPECT_EQ(run.entries()[1].state, RankState::kFailed);
  EXPECT_TRUE(run.clock().shared) << "over those that stay";
  EXPECT_EQ(SpanOf(ranks), (Interval{{0}, {110}}));
  EXPECT_EQ(kept.trace().gpu.size(), 1u) << "who has it keeps it";
}

TEST(ViewedRun, ARankThatFailsBeforeItWasPublishedIsNotPublished) {
  ViewedRun run({"a", "b"});
  run.Add(RankAt(500, kBase), 1);
  EXPECT_EQ(run.Fail("no", 1), std::vector<size_t>{1});
  EXPECT_EQ(run.Add(RankAt(600, kBase), 0), std::vector<size_t>{0});
  EXPECT_EQ(run.entries()[1].state, RankState::kFailed);
  EXPECT_FALSE(run.ranks()[1]);
}

TEST(ViewedRun, NothingAtAll) {
  EXPECT_TRUE(ViewedRun({}).entries().empty());
  ViewedRun run({"a"});
  EXPECT_TRUE(SpanOf(run.ranks()).empty());
  EXPECT_EQ(run.Add(EmptyRank(), 0), std::vector<size_t>{0});
  EXPECT_TRUE(SpanOf(run.ranks()).empty());
  const size_t more = run.Append("a#pid=7");
  EXPECT_EQ(run.Add(RankAt(5, -1), more), std::vector<size_t>{1});
  EXPECT_EQ(run.entries()[1].label, "a#pid=7");
}

TEST(ViewedRun, LabelsTellRanksApart) {
  ViewedRun run({"x/rank0.json", "x/rank1.json", "x/other.json"});
  for (size_t rank : {0u, 1u}) {
    TraceBuilder builder;
    builder.header().rank = static_cast<int64_t>(rank);
    builder.header().world_size = 2;
    builder.Kernel("k", {.start = 0, .duration = 10});
    run.Add(MakeViewedRank("x/rank" + std::to_string(rank) + ".json", std::move(builder).Finish()),
            rank);
  }
  const auto entries = run.entries();
  EXPECT_EQ(entries[0].label, "rank 0");
  EXPECT_EQ(entries[1].label, "rank 1");
  EXPECT_EQ(entries[2].label, "other.json");
}

TEST(ViewedRun, ReadersSeeWholeRanks) {
  constexpr size_t kRanks = 16;
  ViewedRun run(std::vector<std::string>(kRanks, "path"));
  std::vector<std::thread> writers;
  for (size_t i = 0; i < kRanks; ++i) {
    writers.emplace_back([&run, i] {
      run.Begin(i);
      run.Add(RankAt(static_cast<int64_t>(100 * i), kBase), i);
    });
  }
  size_t read = 0;
  while (read < kRanks) {
    read = 0;
    const ReadRanks ranks = run.ranks();
    for (size_t i = 0; i < kRanks; ++i) {
      if (!ranks[i]) continue;
      ++read;
      EXPECT_EQ(ranks[i]->span().start.ns, static_cast<int64_t>(100 * i));
    }
  }
  for (std::thread& writer : writers) writer.join();
}

// All tables share one numbering of names.
TEST(ViewedRank, NamesOfAllTables) {
  TraceBuilder builder;
  builder.Kernel("void at::native::elementwise_kernel<4>(int)", {.start = 0, .duration = 10});
  builder.Host("cpu_op", "aten::add", {.start = 0, .duration = 10});
  builder.Memcpy("aten::add", {.start = 20, .duration = 10});
  const auto read = MakeViewedRank("r", std::move(builder).Finish());
  const ViewedRank& rank = *read;
  size_t slices = 0;
  for (const TimelineRow& row : rank.rows()) {
    for (const Lane& lane : row.lanes) {
      for (size_t i = 0; i < lane.size(); ++i, ++slices) {
        const std::string_view whole = lane.NameText(i);
        EXPECT_EQ(rank.names()[lane.NameId(i)],
                  whole.starts_with("void") ? ShortKernelName(whole) : whole);
      }
    }
  }
  EXPECT_EQ(rank.slices(), slices);
  EXPECT_GE(slices, 5u);
}

// Three reductions, 100 us apart, that end at the same time on all ranks.
std::unique_ptr<ViewedRank> ReducingRank(int64_t number, int64_t late, int64_t base) {
  TraceBuilder builder;
  builder.header().base_time_ns = base;
  builder.header().rank = number;
  for (int64_t i = 0; i < 3; ++i) {
    builder.Kernel("ncclDevKernel_AllReduce",
                   {.start = i * 100'000 + late, .duration = 50'000 - late});
  }
  return MakeViewedRank("rank", std::move(builder).Finish());
}

TEST(ViewedRun, ResidualsAreThoseOfRanksOnItsClock) {
  ViewedRun run({"a", "b", "c", "d"});
  run.Add(ReducingRank(0, 0, kBase), 0);
  run.Add(ReducingRank(1, 30'000, kBase - 800), 1);
  run.Add(ReducingRank(2, 0, kBase + 3600 * kNsPerSecond), 2);
  run.Fail("empty", 3);
  EXPECT_EQ(run.collectives(), nullptr);
  run.Finish();
  const auto found = run.collectives();
  ASSERT_EQ(found->residuals.size(), 1u);
  EXPECT_EQ(found->residuals[0], (ClockResidual{1, 0, {-800}, {}, 3}));
  EXPECT_EQ(found->kernels, 6u);
  EXPECT_EQ(found->unmatched, 0u);
  EXPECT_EQ(found->Find(0, 0).first->Wait(*found->Find(0, 0).second).ns, 30'000);
  EXPECT_EQ(run.ranks()[1]->span().start.ns, 30'000 - 800);  // no row moves
}

}  // namespace
}  // namespace tacho
