#include "view/window_gaps.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "view/navigate.h"
#include "view/viewed_for_test.h"

namespace tacho {
namespace {

// Kernels of two devices at random distances. Some are launched late, others come from a queue.
Trace RandomTrace(Random& random) {
  TraceBuilder builder;
  builder.header().base_time_ns = 1'700'000'000 * kNsPerSecond;
  int64_t at = static_cast<int64_t>(random.Below(50));
  for (int64_t i = 0; i < 60; ++i) {
    const auto gap = static_cast<int64_t>(random.Below(4) == 0 ? 0 : random.Below(90));
    at += gap;
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = at - static_cast<int64_t>(random.Below(60)),
                  .duration = static_cast<int64_t>(random.Below(30)),
                  .correlation = i});
    const auto length = static_cast<int64_t>(random.Below(20));
    builder.Kernel(
        "k", {.device = i % 3 == 0 ? "1" : "0", .start = at, .duration = length, .correlation = i});
    at += length;
  }
  return std::move(builder).Finish();
}

// In a small trace all gaps are listed, so the gaps of the whole run and their causes must be the
// same.
TEST(LongestGapsIn, WholeRunHasTheGapsOfTheRun) {
  Random random(7);
  for (int round = 0; round < 30; ++round) {
    const ReadRanks ranks = RanksOf(RandomTrace(random), RandomTrace(random));
    const std::vector<RunGap> run = LongestRunGaps(ranks);
    const WindowGaps all = LongestGapsIn(ranks, SpanOf(ranks), 1000);
    ASSERT_LE(run.size(), all.longest.size());
    EXPECT_EQ(all.count, all.longest.size());
    for (size_t i = 0; i < run.size(); ++i) {
      EXPECT_EQ(all.longest[i].when.length(), run[i].when.length());
      EXPECT_EQ(all.longest[i].inside, run[i].when.length());
      EXPECT_EQ(all.longest[i].when, run[i].when);
      EXPECT_EQ(all.longest[i].rank, run[i].rank);
      EXPECT_EQ(all.longest[i].cause, run[i].gap->cause);
      EXPECT_EQ(all.longest[i].device, run[i].gap->device);
    }
  }
}

// Checks a window against gaps found by brute force among those of the whole run.
TEST(LongestGapsIn, WindowHasThoseThatTouchIt) {
  Random random(8);
  for (int round = 0; round < 60; ++round) {
    const ReadRanks ranks = RanksOf(RandomTrace(random), RandomTrace(random));
    const auto from = static_cast<int64_t>(random.Below(3000));
    const Interval window{{from}, {from + static_cast<int64_t>(random.Below(400))}};
    uint64_t touching = 0;
    DurationNs inside, listed, longest;
    for (const WindowGap& gap : LongestGapsIn(ranks, SpanOf(ranks), 1000).longest) {
      const DurationNs part = gap.when.Clip(window).length();
      touching += part.ns > 0 ? 1 : 0;
      inside += part;
      longest = std::max(longest, part);
    }
    const WindowGaps found = LongestGapsIn(ranks, window, 1000);
    EXPECT_EQ(found.count, touching);
    for (const WindowGap& gap : found.longest) listed += gap.inside;
    EXPECT_EQ(listed, inside);
    const WindowGaps first = LongestGapsIn(ranks, window, 1);
    EXPECT_EQ(first.count, touching);
    ASSERT_EQ(first.longest.size(), touching > 0 ? 1u : 0u);
    EXPECT_EQ(first.longest.empty() ? DurationNs{} : first.longest[0].inside, longest);
    EXPECT_TRUE(LongestGapsIn(ranks, window, 0).longest.empty());
  }
}

TEST(LongestGapsIn, OneRankAndNoRank) {
  Random random(9);
  ReadRanks ranks = RanksOf(RandomTrace(random), RandomTrace(random));
  for (const WindowGap& gap : LongestGapsIn(ranks, SpanOf(ranks), 9, 1).longest)
    EXPECT_EQ(gap.rank, 1u);
  ranks[0] = nullptr;
  EXPECT_GT(LongestGapsIn(ranks, SpanOf(ranks), 9).count, 0u);
  EXPECT_EQ(LongestGapsIn({}, {}, 9).count, 0u);
}

}  // namespace
}  // namespace tacho
