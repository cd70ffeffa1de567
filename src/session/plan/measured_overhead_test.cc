#include "session/plan/measured_overhead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tacho {
namespace {

using testing::ElementsAre;

constexpr int64_t kMilli = 1'000'000;

// Two blocks of windows of one second, with a second between any two. Each window has one request
// whose first token comes in it and whose tokens come every 10 ms, or every 11 ms if the window is
// profiled.
struct Load {
  Load() {
    int64_t at_ns = 0;
    for (size_t block = 0; block < 2; ++block)
      for (const bool profiled : OrderOfBlock(block)) {
        OverheadWindow& window = overhead.windows.emplace_back();
        window = {block, profiled, at_ns, at_ns + 100 * kMilli, at_ns + 1100 * kMilli, 0, 0};
        const int64_t gap_ns = profiled ? 11 * kMilli : 10 * kMilli;
        window.steps_ns = 990e6;
        window.steps = window.steps_ns / static_cast<double>(gap_ns);
        RequestRecord& request = records.requests.emplace_back();
        request.status = RequestStatus::kDone;
        request.sent_ns = at_ns;
        request.first_token_ns = window.begin_ns;
        for (int64_t token_ns = window.begin_ns; token_ns < window.end_ns; token_ns += gap_ns) {
          request.chunk_ns.push_back(token_ns);
          request.chunk_tokens.push_back(1);
        }
        at_ns += 2000 * kMilli;
      }
  }
  LoadRecords records;
  Overhead overhead;
};

TEST(OrderOfBlock, TurnsAround) {
  EXPECT_THAT(OrderOfBlock(0), ElementsAre(false, true, true, false));
  EXPECT_THAT(OrderOfBlock(3), ElementsAre(true, false, false, true));
}

TEST(MeasureOverhead, EachFigureHasItsChange) {
  Load load;
  MeasureOverhead(load.records, load.overhead);
  EXPECT_EQ(load.overhead.blocks, 2u);
  const auto change = [&](OverheadFigureId id) { return load.overhead.Find(id)->estimate->change; };
  EXPECT_NEAR(change(OverheadFigureId::kThroughput), 91.0 / 100 - 1, 1e-9);
  EXPECT_NEAR(change(OverheadFigureId::kStep), 0.1, 1e-9);
  EXPECT_NEAR(change(OverheadFigureId::kItl), 0.1, 1e-9);
  EXPECT_NEAR(change(OverheadFigureId::kTtft), 0, 1e-9);
  EXPECT_EQ(load.overhead.Find(OverheadFigureId::kThroughput)->verdict, OverheadVerdict::kCost);
  EXPECT_EQ(load.overhead.Find(OverheadFigureId::kTtft)->verdict, OverheadVerdict::kNoCost);
  EXPECT_DOUBLE_EQ(load.overhead.Find(OverheadFigureId::kItl)->estimate->unprofiled, 10e6);
}

// The TTFT of a request that was sent while a flush held up the engine is no figure of the window.
TEST(MeasureOverhead, WhatBeganBeforeTheCalmDoesNotCount) {
  Load load;
  for (RequestRecord& request : load.records.requests) --request.sent_ns;
  MeasureOverhead(load.records, load.overhead);
  EXPECT_EQ(load.overhead.Find(OverheadFigureId::kTtft), nullptr);
  EXPECT_NE(load.overhead.Find(OverheadFigureId::kItl), nullptr);
}

TEST(MeasureOverhead, PartsOfBlocksAndThoseWithFailuresDoNotCount) {
  Load load;
  load.overhead.windows.pop_back();
  MeasureOverhead(load.records, load.overhead);
  EXPECT_EQ(load.overhead.blocks, 1u);
  EXPECT_EQ(load.overhead.Find(OverheadFigureId::kStep), nullptr);
  EXPECT_EQ(load.overhead.figures.size(), 4u);

  Load failed;
  failed.records.requests[1].status = RequestStatus::kFailed;
  failed.records.requests[1].ended_ns = failed.overhead.windows[1].begin_ns;
  MeasureOverhead(failed.records, failed.overhead);
  EXPECT_EQ(failed.overhead.blocks, 1u);
  EXPECT_EQ(failed.overhead.blocks_with_failures, 1u);
}

TEST(MeasureOverhead, AnEngineThatCountsNoStepsHasNoTimeOfAStep) {
  Load load;
  for (OverheadWindow& window : load.overhead.windows) window.steps = window.steps_ns = 0;
  MeasureOverhead(load.records, load.overhead);
  EXPECT_EQ(load.overhead.Find(OverheadFigureId::kStep), nullptr);
  EXPECT_NE(load.overhead.Find(OverheadFigureId::kThroughput), nullptr);
}

}  // namespace
}  // namespace tacho
