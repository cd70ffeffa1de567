#include "view/window_summary.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "view/viewed_for_test.h"

namespace tacho {
namespace {

Trace RandomWork(uint64_t seed) {
  TraceBuilder builder;
  builder.header().base_time_ns = 1'700'000'000 * kNsPerSecond;
  Random random(seed);
  for (int64_t i = 0; i < 200; ++i) {
    const auto start = static_cast<int64_t>(random.Below(10'000));
    const std::string name = "k" + std::to_string(random.Below(5));
    builder.Kernel(name, {.device = i % 2 == 0 ? "0" : "1",
                          .stream = i % 3 == 0 ? "7" : "8",
                          .start = start,
                          .duration = static_cast<int64_t>(random.Below(60)),
                          .correlation = i});
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = start - static_cast<int64_t>(random.Below(100)),
                  .duration = static_cast<int64_t>(random.Below(10)),
                  .correlation = i});
    if (i % 20 == 0) {
      builder.Host("user_annotation", "execute_context_0(0)_generation_1(3)",
                   {.tid = "2", .start = 50 * i, .duration = 900});
    }
  }
  return std::move(builder).Finish();
}

// Compares with one pass over the trace.
TEST(SummarizeWindow, NamesAreThoseOfTheTrace) {
  const ReadRanks ranks = RanksOf(RandomWork(1), RandomWork(2));
  Random random(5);
  for (int round = 0; round < 40; ++round) {
    const auto from = static_cast<int64_t>(random.Below(11'000)) - 500;
    const Interval window{{from}, {from + static_cast<int64_t>(random.Below(4000))}};
    std::map<std::string_view, std::pair<uint64_t, int64_t>> slow;
    size_t steps = 0;
    for (const auto& rank : ranks) {
      const auto add = [&](const SliceTable& table) {
        for (size_t row = 0; row < table.size(); ++row) {
          const Interval when = rank->ToRun(table.When(row));
          const bool touches =
              when.empty() ? window.contains(when.start) : !when.Clip(window).empty();
          if (!touches) continue;
          auto& [count, total] = slow[rank->trace().Text(table.name[row])];
          ++count;
          total += when.Clip(window).length().ns;
          steps += &table == &rank->trace().annotations ? 1 : 0;
        }
      };
      add(rank->trace().gpu);
      add(rank->trace().host_calls);
      add(rank->trace().annotations);
    }
    const WindowSummary summary = SummarizeWindow(ranks, {window});
    std::map<std::string_view, std::pair<uint64_t, int64_t>> found;
    int64_t of_names = 0, of_colors = 0;
    for (const WindowName& name : summary.names) {
      found[name.name] = {name.count, name.total.ns};
      of_names += name.total.ns;
      EXPECT_EQ(SliceAt(ranks, name.longest.at)->when, name.longest.when);
    }
    for (const WindowColor& color : summary.colors) of_colors += color.total.ns;
    EXPECT_EQ(found, slow);
    EXPECT_EQ(of_names, of_colors);
    EXPECT_EQ(summary.steps, steps);
  }
}

TEST(SummarizeWindow, BusyAndIdleAreTheWindow) {
  const ReadRanks ranks = RanksOf(RandomWork(1), RandomWork(2));
  Random random(7);
  for (int round = 0; round < 40; ++round) {
    const auto from = static_cast<int64_t>(random.Below(11'000)) - 500;
    const Interval window{{from}, {from + static_cast<int64_t>(random.Below(4000))}};
    std::map<std::pair<uint32_t, std::string>, int64_t> sums;
    for (const WindowIdle& idle : SummarizeWindow(ranks, {window}).idle) {
      EXPECT_GE(idle.total.ns, 0);
      sums[{idle.rank, idle.device}] += idle.total.ns;
    }
    if (window.empty()) continue;
    ASSERT_EQ(sums.size(), 4u);
    for (const auto& [device, sum] : sums) EXPECT_EQ(sum, window.length().ns);
  }
}

TEST(SummarizeWindow, WhereWorkIsMissingIdleTimeIsNotTold) {
  const ReadRanks ranks = RanksOf(HalfLost());
  const auto of = [&](Interval window) {
    std::map<std::string_view, int64_t> times;
    for (const WindowIdle& idle : SummarizeWindow(ranks, {window}).idle)
      times[idle.cause] += idle.total.ns;
    return times;
  };
  using Times = std::map<std::string_view, int64_t>;
  EXPECT_EQ(of({{0}, {4'000}}),
            (Times{{"busy", 600}, {"not-told", 3'230}, {"outside", 80}, {"unrecorded", 90}}))
      << "the trace ends at 3910";
  EXPECT_EQ(of({{20}, {50}}), (Times{{"busy", 30}}));
  EXPECT_EQ(of({{60}, {210}}), (Times{{"not-told", 150}}));
  EXPECT_EQ(of({{5'000}, {6'000}}), (Times{{"unrecorded", 1'000}}));
  EXPECT_EQ(of({{0}, {10}}), (Times{{"outside", 10}}));
  for (const TimelineRow& row : ranks[0]->rows()) {
    if (row.kind != RowKind::kIdle) continue;
    EXPECT_EQ(row.lacks, "idle time cannot be told: GPU work is missing from the recording");
  }
}

// The work of the last 20 of 40 calls is missing: nothing after the 20th was recorded.
TEST(SummarizeWindow, AfterWorkThatIsMissingAtTheEndNothingWasRecorded) {
  const ReadRanks ranks = RanksOf(Launched([](int64_t i) { return i < 20; }));
  const Interval window{{1'900}, {3'000}};
  std::map<std::string_view, int64_t> times;
  for (const WindowIdle& idle : SummarizeWindow(ranks, {window}).idle)
    times[idle.cause] += idle.total.ns;
  EXPECT_EQ(times["busy"], 30);
  EXPECT_EQ(times["unrecorded"], 3'000 - 1'950);
  EXPECT_EQ(times["outside"], 0);
}

// In a file with mixed ranks no work can be assigned, so there is no figure of that file. The other
// file has all of its figures.
TEST(SummarizeWindow, OfMixedRanksThereIsNoFigure) {
  const ReadRanks ranks = RanksOf(TwoRanksAsOne(), HalfLost());
  EXPECT_EQ(ranks[0]->view().untold().all, "the file holds several ranks as one");
  for (const TimelineRow& row : ranks[0]->rows()) {
    if (row.kind == RowKind::kBusy || row.kind == RowKind::kIdle) {
      EXPECT_EQ(row.lacks, "not shown: the file holds several ranks as one");
    }
  }
  const WindowSummary both = SummarizeWindow(ranks, {SpanOf(ranks)});
  const WindowSummary one = SummarizeWindow(ranks, {SpanOf(ranks), 1});
  ASSERT_EQ(both.names.size(), one.names.size());
  for (size_t i = 0; i < one.names.size(); ++i) EXPECT_EQ(both.names[i].count, one.names[i].count);
  EXPECT_EQ(both.idle.size(), one.idle.size());
  EXPECT_TRUE(SummarizeWindow(ranks, {SpanOf(ranks), 0}).names.empty());
}

TEST(SummarizeWindow, WorkOutOfOrderIsNeitherBusyNorIdle) {
  const ReadRanks ranks = RanksOf(OutOfOrder());
  EXPECT_EQ(ranks[0]->view().untold().device_time,
            "GPU work lies out of the order of its launches");
  const WindowSummary summary = SummarizeWindow(ranks, {SpanOf(ranks)});
  EXPECT_TRUE(summary.idle.empty());
  EXPECT_EQ(summary.names.size(), 2u) << "kernels and calls have counts and durations";
}

TEST(SummarizeWindow, NamesAreBoundedAndTheirSumsHold) {
  const ReadRanks ranks = RanksOf(RandomWork(1), RandomWork(2));
  const auto sums = [](const WindowSummary& summary) {
    std::map<Palette, std::pair<uint64_t, int64_t>> of;
    for (const WindowName& name : summary.names) {
      of[name.palette].first += name.count;
      of[name.palette].second += name.total.ns;
    }
    for (const WindowOthers& others : summary.others) {
      of[others.palette].first += others.count;
      of[others.palette].second += others.total.ns;
    }
    return of;
  };
  const WindowSummary all = SummarizeWindow(ranks, {SpanOf(ranks)});
  ASSERT_EQ(all.names.size(), 7u) << "5 of kernels, 2 of the host";
  EXPECT_TRUE(all.others.empty());
  for (size_t most = 0; most <= all.names.size(); ++most) {
    const WindowSummary few = SummarizeWindow(ranks, {SpanOf(ranks)}, most);
    EXPECT_EQ(few.names.size(), most);
    EXPECT_EQ(sums(few), sums(all));
    EXPECT_EQ(few.colors.size(), all.colors.size());
    uint64_t names = most;
    for (const WindowOthers& others : few.others) {
      names += others.names;
      EXPECT_GT(others.longest.ns, 0);
    }
    EXPECT_EQ(names, all.names.size());
    EXPECT_EQ(std::ranges::count(few.names, Palette::kWork, &WindowName::palette),
              std::min<int64_t>(static_cast<int64_t>(most), 5));
  }
}

TEST(SummarizeWindow, AKernelAndACopyOfOneName) {
  TraceBuilder builder;
  builder.Kernel("fill", {.start = 0, .duration = 10});
  builder.Memcpy("fill", {.start = 20, .duration = 5});
  builder.Kernel("fill", {.start = 30, .duration = 10});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  const WindowSummary summary = SummarizeWindow(ranks, {SpanOf(ranks)});
  ASSERT_EQ(summary.names.size(), 2u);
  EXPECT_EQ(summary.names[0].kind, DrawnKind::kKernel);
  EXPECT_EQ(summary.names[0].count, 2u);
  EXPECT_EQ(summary.names[1].kind, DrawnKind::kCopy);
  EXPECT_EQ(summary.names[1].total.ns, 5);
}

TEST(SummarizeWindow, AHostAnnotationAndThatOfTheDevice) {
  TraceBuilder builder;
  builder.Kernel("k", {.start = 0, .duration = 10});
  builder.Host("user_annotation", "step", {.start = 0, .duration = 100});
  builder.Host("gpu_user_annotation", "step", {.start = 0, .duration = 10});
  builder.Host("gpu_user_annotation", "step", {.start = 50, .duration = 10});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  uint64_t count = 0, rows = 0;
  for (const WindowName& name : SummarizeWindow(ranks, {SpanOf(ranks)}).names) {
    if (name.name != "step") continue;
    ++rows;
    count += name.count;
  }
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(rows, 2u);
}

TEST(SummarizeWindow, WithoutADeviceNothingIsIdle) {
  TraceBuilder builder;
  builder.Host("cuda_runtime", "cudaLaunchKernel", {.start = 0, .duration = 10});
  const ReadRanks ranks = RanksOf(std::move(builder).Finish());
  EXPECT_TRUE(SummarizeWindow(ranks, {SpanOf(ranks)}).idle.empty());
}

TEST(SummarizeWindow, OfOneRankAndSomeRows) {
  const ReadRanks ranks = RanksOf(RandomWork(1), RandomWork(2));
  const Interval all = SpanOf(ranks);
  uint64_t both = 0;
  for (const uint32_t rank : {0u, 1u}) {
    const WindowSummary summary = SummarizeWindow(ranks, {all, rank});
    for (const WindowName& name : summary.names) both += name.count;
    for (const WindowIdle& idle : summary.idle) EXPECT_EQ(idle.rank, rank);
  }
  uint64_t together = 0;
  for (const WindowName& name : SummarizeWindow(ranks, {all}).names) together += name.count;
  EXPECT_EQ(both, together);
  EXPECT_EQ(together, 2u * (200 + 200 + 10));

  const WindowSummary steps = SummarizeWindow(ranks, {all, 0, {0}});
  ASSERT_EQ(steps.names.size(), 1u);
  EXPECT_EQ(steps.names[0].kind, DrawnKind::kStep);
  EXPECT_EQ(steps.names[0].palette, Palette::kPhases);
  EXPECT_EQ(steps.names[0].count, 10u);
  EXPECT_TRUE(SummarizeWindow({}, {all}).names.empty());
  EXPECT_TRUE(SummarizeWindow(ranks, {{}}).names.empty());
}

}  // namespace
}  // namespace tacho
