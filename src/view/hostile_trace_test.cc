// Traces that no profiler should write, although some do.
#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "base/random.h"
#include "view/navigate.h"
#include "view/slice_detail.h"
#include "view/tiles.h"
#include "view/viewed_for_test.h"
#include "view/window_summary.h"

namespace tacho {
namespace {

constexpr int64_t kLeastTime = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostTime = std::numeric_limits<int64_t>::max();

// Asks every query, at odd times too, to see that nothing breaks. Neither the reader nor the server
// accepts a time beyond a quarter of the range.
void AskEverything(const ReadRanks& ranks) {
  for (const Interval window :
       {SpanOf(ranks), Interval{{kLeastTime / 4}, {kMostTime / 4}}, Interval{{5}, {5}},
        Interval{{kMostTime / 4 - 1}, {kMostTime / 4}}, Interval{{9}, {3}}}) {
    const WindowSummary summary = SummarizeWindow(ranks, {window});
    for (const WindowName& name : summary.names) EXPECT_TRUE(SliceAt(ranks, name.longest.at));
    for (const bool forward : {true, false}) {
      NextStep(ranks, window.start, forward);
      NextGap(ranks, window.start, forward);
      NextHit(ranks, "a", window.start, forward);
    }
    for (uint32_t row = 0; row < std::min<size_t>(ranks[0]->rows().size(), 50); ++row) {
      const TimelineRow& of = ranks[0]->rows()[row];
      std::vector<TileLane> lanes;
      for (const Lane& lane : of.lanes) lanes.push_back({row, 0, &lane});
      for (const int64_t width : {int64_t{1}, int64_t{1} << 20, int64_t{1} << 62}) {
        EncodeTiles(lanes, {ranks[0]->ToTrace(window.start), {width}, 100});
      }
      FlameGraph(of.lanes, ranks[0]->ToTrace(window), {0});
      const auto slice = SliceNear(ranks, 0, row, window.start);
      EXPECT_EQ(slice.has_value(), of.slices() > 0);
      if (!slice) continue;
      EXPECT_TRUE(DetailOf(ranks, slice->at));
    }
  }
  SearchRun(ranks, "", 10);
  LongestRunGaps(ranks);
}

// Checks that the rows contain every slice of the trace exactly once.
void ExpectEverySlice(const ViewedRank& rank) {
  std::map<std::pair<uint32_t, uint32_t>, int> seen;
  for (const TimelineRow& row : rank.rows()) {
    for (const Lane& lane : row.lanes) {
      for (size_t i = 0; i < lane.size(); ++i) ++seen[{lane[i].table(), lane[i].row()}];
    }
  }
  const auto of = [&](DrawnFrom table) {
    return static_cast<size_t>(std::ranges::count_if(seen, [&](const auto& slice) {
      return slice.first.first == static_cast<uint32_t>(table) && slice.second == 1;
    }));
  };
  const Trace& trace = rank.trace();
  EXPECT_EQ(of(DrawnFrom::kGpu), trace.gpu.size());
  EXPECT_EQ(of(DrawnFrom::kGpuAnnotations), trace.gpu_annotations.size());
  EXPECT_EQ(of(DrawnFrom::kPythonFrames), trace.python_frames.size());
  EXPECT_EQ(of(DrawnFrom::kAnnotations), trace.annotations.size());
  EXPECT_EQ(of(DrawnFrom::kHostOps), trace.host_ops.size());
  EXPECT_EQ(of(DrawnFrom::kHostCalls), trace.host_calls.size());
  EXPECT_EQ(of(DrawnFrom::kOthers), trace.others.size());
  EXPECT_EQ(of(DrawnFrom::kMarks), trace.ranges.size() + trace.instants.size());
}

TEST(HostileTrace, AnHourAmongMicroseconds) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 2000; ++i) {
    builder.Kernel("k", {.start = 3000 * i, .duration = 1000, .correlation = i});
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = 3000 * i - 500, .duration = 100, .correlation = i});
  }
  const DurationNs hour{3600 * kNsPerSecond};
  builder.Kernel("hour", {.start = 1500, .duration = hour.ns});
  builder.Host("cpu_op", "hour", {.start = 1500, .duration = hour.ns});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  ExpectEverySlice(*ranks[0]);
  AskEverything(ranks);
  const PlacedSlice found = Named(ranks, "hour");
  EXPECT_EQ(found.when.length(), hour);
  const Lane& lane = *FindLane(ranks, found.at);
  std::vector<Bucket> columns(100);
  lane.Fold({0}, {60 * kNsPerSecond}, columns);
  uint64_t busy = 0;
  for (const Bucket& column : columns) busy += column.busy_ns;
  EXPECT_EQ(busy, lane.BusyNs());
  EXPECT_EQ(columns[59].busy_ns, 60u * kNsPerSecond);
}

TEST(HostileTrace, AHundredThousandRows) {
  TraceBuilder builder;
  constexpr size_t kRows = 100'000;
  for (size_t i = 0; i < kRows; ++i) {
    builder.Host("cpu_op", "op",
                 {.tid = std::to_string(i), .start = static_cast<int64_t>(i), .duration = 10});
  }
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  EXPECT_GE(ranks[0]->rows().size(), kRows);
  EXPECT_EQ(SearchRun(ranks, "op", 1).total, kRows);
  const WindowSummary summary = SummarizeWindow(ranks, {{{0}, {1000}}});
  ASSERT_GE(summary.names.size(), 1u);
  EXPECT_EQ(summary.names[0].count, 1000u);
  EXPECT_TRUE(DetailOf(ranks, {0, static_cast<uint32_t>(ranks[0]->rows().size() - 1), 0, 0}));
}

TEST(HostileTrace, TimesAtTheEndsOfTheRange) {
  TraceBuilder builder;
  const int64_t least = kLeastTime / 4, most = kMostTime / 4;
  builder.Kernel("a", {.start = least, .duration = 5, .correlation = 1});
  builder.Kernel("a", {.start = least + 2, .duration = most, .correlation = 2});
  builder.Kernel("b", {.start = most, .duration = 5, .correlation = 3});
  builder.Host("cudaLaunch", "cudaLaunchKernel", {.start = most, .duration = 5, .correlation = 1});
  builder.Host("cuda_runtime", "cudaLaunchKernel",
               {.start = least, .duration = most, .correlation = 3});
  builder.Host("user_annotation", "execute_context_0(0)_generation_1(3)",
               {.start = least, .duration = most});
  builder.Instant("a", most);
  builder.Instant("a", least);
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  ExpectEverySlice(*ranks[0]);
  AskEverything(ranks);
  EXPECT_EQ(SpanOf(ranks).start.ns, 0);
}

TEST(HostileTrace, NothingAtAll) {
  const ReadRanks ranks = RanksOf(TraceBuilder().Finish());
  AskEverything(ranks);
  ASSERT_EQ(ranks[0]->rows().size(), 2u);
  EXPECT_EQ(ranks[0]->rows()[1].lacks,
            "the trace holds no event at all; profile while requests are running");
}

TEST(HostileTrace, WithoutGpuWork) {
  TraceBuilder builder;
  builder.Host("python_function", "f", {.start = 0, .duration = 10});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  AskEverything(ranks);
  EXPECT_EQ(ranks[0]->rows()[1].lacks, "no GPU work in this trace");
}

TEST(HostileTrace, RangesAndInstantsAreShown) {
  TraceBuilder builder;
  builder.Host("cpu_op", "op", {.start = 0, .duration = 10});  // creates the track
  for (int i = 0; i < 300; ++i) builder.Instant("now", i / 3, {{"n", std::to_string(i)}});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  ExpectEverySlice(*ranks[0]);
  AskEverything(ranks);
  const auto detail = DetailOf(ranks, Named(ranks, "now").at);
  EXPECT_EQ(detail->kind, DrawnKind::kMark);
  EXPECT_EQ(detail->slice.when.length().ns, 0);
  ASSERT_EQ(detail->arguments.size(), 1u);
  EXPECT_EQ(detail->arguments[0].key, "n");
}

// Overlapping work is shown as a whole, and at any zoom the lanes show the full time of all slices.
TEST(HostileTrace, OverlappingWorkIsWholeAtEveryZoom) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    TraceBuilder builder;
    Random random(seed);
    uint64_t whole = 0;
    for (int64_t i = 0; i < 3000; ++i) {
      const auto duration = static_cast<int64_t>(random.Below(random.Below(30) == 0 ? 5000 : 40));
      builder.Kernel("k", {.stream = i % 3 == 0 ? "7" : "8",
                           .start = static_cast<int64_t>(random.Below(20'000)),
                           .duration = duration});
      whole += static_cast<uint64_t>(duration);
    }
    const ReadRanks ranks = RanksOf(std::move(builder).Finish());
    ExpectEverySlice(*ranks[0]);
    const Interval span = ranks[0]->trace().span;
    for (int level = 0; level < 20; ++level) {
      const int64_t width = int64_t{1} << level;
      std::vector<Bucket> columns(static_cast<size_t>(span.length().ns / width + 2));
      uint64_t busy = 0, slices = 0;
      for (const TimelineRow& row : ranks[0]->rows()) {
        if (row.kind != RowKind::kStream) continue;
        for (const Lane& lane : row.lanes) {
          lane.Fold(span.start, {width}, columns);
          uint64_t crossings = 0;
          for (const Bucket& column : columns) {
            EXPECT_LE(column.busy_ns, static_cast<uint64_t>(width));
            busy += column.busy_ns;
            slices += column.count;
          }
          // A slice counts in each column that it touches: one extra time for each column edge
          // inside it.
          for (size_t i = 0; i < lane.size(); ++i) {
            const Interval when = lane.When(i);
            const int64_t first = (when.start - span.start).ns / width;
            const int64_t last =
                std::max((when.end - span.start).ns - 1, (when.start - span.start).ns) / width;
            crossings += static_cast<uint64_t>(last - first);
          }
          slices -= crossings;
        }
      }
      EXPECT_EQ(busy, whole) << width;
      EXPECT_EQ(slices, 3000u) << width;
    }
  }
}

}  // namespace
}  // namespace tacho
