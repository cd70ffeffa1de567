#include "analysis/device/launches.h"

#include <gtest/gtest.h>

#include <random>

#include "model/trace_builder.h"

namespace tacho {
namespace {

TEST(Launches, AreLinkedByCorrelationDenseOrScattered) {
  for (const int64_t base : {int64_t{0}, int64_t{5'000'000'000}}) {
    for (const int64_t stride : {int64_t{1}, int64_t{1'000'000'000'000}}) {
      TraceBuilder b;
      for (int64_t i = 0; i < 5; ++i) {
        b.Host("cuda_runtime", "cudaLaunchKernel",
               {.start = 10 * i, .duration = 1, .correlation = base + i * stride});
      }
      b.Host("cuda_runtime", "cudaStreamSynchronize", {.start = 100});
      b.Kernel("k", {.correlation = base + 3 * stride});
      b.Kernel("k", {.correlation = base + 9 * stride});
      b.Kernel("k", {.correlation = -1});
      b.Kernel("k", {.correlation = base + 3 * stride});
      const LaunchLinks links = LinkLaunches(std::move(b).Finish());
      EXPECT_EQ(links.call_of_gpu,
                (std::vector<uint32_t>{3, LaunchLinks::kNone, LaunchLinks::kNone, 3}));
    }
  }
}

TEST(Launches, OfSeveralCallsTheOneThatLaunchesWinsThenTheFirst) {
  TraceBuilder b;
  b.Host("cuda_runtime", "cudaFuncGetAttributes", {.correlation = 1});
  b.Host("cuda_driver", "cuLaunchKernelEx", {.correlation = 1});
  b.Host("cuda_runtime", "hipMemcpyAsync", {.correlation = 1});
  b.Host("cuda_runtime", "cudaEventQuery", {.correlation = 2});
  b.Host("cuda_runtime", "cudaEventRecord", {.correlation = 2});
  b.Kernel("k", {.correlation = 1});
  b.Kernel("k", {.correlation = 2});
  EXPECT_EQ(LinkLaunches(std::move(b).Finish()).call_of_gpu, (std::vector<uint32_t>{1, 3}));
}

// SGLang's merger puts several ranks into one file, and each rank's correlations start at 1.
TEST(Launches, OfMergedRanksStayApart) {
  TraceBuilder b;
  for (const std::string_view rank : {"[TP00] ", "[TP01] "}) {
    b.Host("cuda_runtime", "cudaGraphLaunch", {.correlation = 7, .rank = rank});
    b.Kernel("n0", {.device = "0", .start = 10, .duration = 1, .correlation = 7, .rank = rank});
    b.Kernel("n1", {.device = "0", .start = 12, .duration = 1, .correlation = 7, .rank = rank});
  }
  const Trace trace = std::move(b).Finish();
  EXPECT_EQ(LinkLaunches(trace).call_of_gpu, (std::vector<uint32_t>{0, 0, 1, 1}));
}

TEST(Launches, OfEqualCallsTheFirstToStartWinsInAnyOrder) {
  for (const bool swapped : {false, true}) {
    TraceBuilder b;
    for (const bool late : {swapped, !swapped}) {
      b.Host("cuda_runtime", late ? "cuLaunchKernelEx" : "cudaLaunchKernel",
             {.start = late ? 50 : 0, .duration = 5, .correlation = 1});
    }
    b.Kernel("k", {.start = 100, .correlation = 1});
    const Trace trace = std::move(b).Finish();
    EXPECT_EQ(trace.host_calls.start[LinkLaunches(trace).call_of_gpu[0]], TimeNs{0});
  }
}

TEST(Launches, OfPiecesThatStartTogetherTheNameDecides) {
  for (const bool swapped : {false, true}) {
    TraceBuilder b;
    b.Host("cuda_runtime", "cudaGraphLaunch", {.start = 0, .duration = 5, .correlation = 1});
    for (const bool second : {swapped, !swapped}) {
      b.Kernel(second ? "b" : "a",
               {.stream = second ? "13" : "7", .start = 10, .duration = 10, .correlation = 1});
    }
    const Trace trace = std::move(b).Finish();
    const LaunchTable table = TabulateLaunches(trace, LinkLaunches(trace));
    ASSERT_EQ(table.queues.size(), 1u);
    EXPECT_EQ(table.queues[0].stream, "7");
  }
}

TEST(Launches, OfOneDeviceAreThoseWithWorkOnIt) {
  TraceBuilder b;
  for (int64_t i = 0; i < 4; ++i) {
    b.Host("cuda_runtime", "cudaGraphLaunch", {.start = 100 * i, .duration = 5, .correlation = i});
    b.Kernel(
        "a",
        {.device = i == 1 ? "1" : "0", .start = 100 * i + 10, .duration = 10, .correlation = i});
  }
  b.Kernel("b", {.device = "1", .start = 330, .duration = 10, .correlation = 3});  // on both
  b.Host("cuda_runtime", "cudaDeviceSynchronize", {.start = 500, .duration = 5});
  const Trace trace = std::move(b).Finish();
  const LaunchTable table =
      TabulateLaunches(trace, LinkLaunches(trace), Scope{.window = {}, .device = "1"});
  EXPECT_EQ(table.graphs.size(), 2u);
  EXPECT_EQ(table.delay.count, 2u);
  EXPECT_EQ(table.delay.max.ns, 25);
  ASSERT_EQ(table.apis.size(), 2u);
  EXPECT_EQ(table.apis[0].name, "cudaGraphLaunch");
  EXPECT_EQ(table.apis[0].stats.count, 2u);
  EXPECT_EQ(table.apis[1].stats.count, 1u) << "what has no work counts on every device";
}

TEST(Launches, CountAndDelay) {
  TraceBuilder b;
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 0, .duration = 10, .correlation = 1});
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 20, .duration = 10, .correlation = 2});
  b.Host("cuda_runtime", "cudaGraphLaunch", {.start = 40, .duration = 10, .correlation = 3});
  b.Host("cuda_runtime", "cudaGraphLaunch",
         {.start = 60, .duration = 10, .correlation = 4});  // launches no work
  b.Host("cuda_driver", "cuLaunchKernel", {.start = 80, .duration = 10, .correlation = 5});
  b.Kernel("a",
           {.start = 15, .duration = 9, .correlation = 1});  // delay 5, shorter than its launch
  b.Kernel("b",
           {.start = 25, .duration = 10, .correlation = 2});  // starts inside its launch: delay 0
  b.Kernel("n2", {.start = 90, .duration = 1, .correlation = 3});
  b.Kernel("n1", {.start = 70, .duration = 1, .correlation = 3});  // the graph's first: delay 20
  b.Kernel("e",
           {.start = 79, .duration = 30, .correlation = 5});  // before its launch: clocks differ
  b.Kernel("orphan", {.start = 1, .duration = 1, .correlation = 77});
  b.Memset("m", {.start = 2, .duration = 1});
  const Trace trace = std::move(b).Finish();
  const LaunchTable table = TabulateLaunches(trace, LinkLaunches(trace));
  EXPECT_EQ(table.gpu_events, 6u);
  EXPECT_EQ(table.with_launch, 5u);
  EXPECT_EQ(table.without_launch, 1u);
  EXPECT_EQ(table.without_correlation, 1u);  // the memset
  EXPECT_EQ(table.graphs.size(), 2u);
  EXPECT_EQ(table.graph_gpu_events, 2u);
  EXPECT_EQ(table.max_gpu_events_per_launch, 2u);
  EXPECT_EQ(table.shorter_than_launch, 1u);
  EXPECT_EQ(table.delay.count, 4u);
  EXPECT_EQ(table.delay.total, DurationNs{25});
  EXPECT_EQ(table.delay.max, DurationNs{20});
  ASSERT_EQ(table.apis.size(), 3u);
  EXPECT_EQ(table.apis[0].name, "cudaGraphLaunch");  // 20, as cudaLaunchKernel: ties by name
  EXPECT_EQ(table.apis[1].name, "cudaLaunchKernel");
  EXPECT_EQ(table.apis[2].stats.total, DurationNs{10});
}

TEST(Launches, QueueDepthIsWhatIsLaunchedAndNotStarted) {
  TraceBuilder b;
  const auto launch = [&](std::string_view stream, int64_t correlation, int64_t at, int64_t start) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = at, .duration = 1, .correlation = correlation});
    b.Kernel("k", {.stream = stream, .start = start, .duration = 5, .correlation = correlation});
  };
  launch("13", 1, 0, 10);
  launch("13", 2, 5, 20);
  launch("13", 3, 10, 20);  // launched at the instant at which the first one starts
  launch("7", 4, 0, 0);
  b.Host("cuda_runtime", "cudaGraphLaunch", {.start = 100, .duration = 1, .correlation = 5});
  for (int64_t i = 0; i < 9; ++i)
    b.Kernel("n", {.stream = "20", .start = 110 + i, .correlation = 5});
  const Trace trace = std::move(b).Finish();
  const LaunchTable table = TabulateLaunches(trace, LinkLaunches(trace));
  ASSERT_EQ(table.queues.size(), 3u);
  EXPECT_EQ(table.queues[0].stream, "7");
  EXPECT_EQ(table.queues[0].max, 0u);
  EXPECT_EQ(table.queues[0].mean, 0.0);
  EXPECT_EQ(table.queues[1].stream, "13");
  EXPECT_EQ(table.queues[1].max, 2u);
  EXPECT_DOUBLE_EQ(table.queues[1].mean, (10.0 + 15.0 + 10.0) / 20.0);
  EXPECT_EQ(table.queues[2].max, 1u);
  EXPECT_DOUBLE_EQ(table.queues[2].mean, 1.0);

  const LaunchTable first =
      TabulateLaunches(trace, LinkLaunches(trace), {.window = Interval{{0}, {10}}, .device = ""});
  EXPECT_DOUBLE_EQ(first.queues[1].mean, (10.0 + 5.0) / 10.0);
  EXPECT_EQ(first.queues[1].max, 2u);
}

TEST(Launches, GraphsByStartWithTheirWork) {
  TraceBuilder b;
  const auto launch = [&](std::string_view name, int64_t start, int64_t duration,
                          int64_t correlation) {
    b.Host("cuda_runtime", name,
           {.start = start, .duration = duration, .correlation = correlation});
  };
  launch("cudaGraphLaunch", 20'000'000, 5'000'000, 2);  // in the second class
  launch("cudaGraphLaunch", 0, 999'999, 1);             // in the first
  launch("hipGraphLaunch", 10'000'000, 1'000'000, 3);   // in the second
  launch("cudaGraphLaunch_v2", 30'000'000, 5'000'001, 4);
  launch("cudaLaunchKernel", 40'000'000, 9'000'000, 5);
  b.Kernel("n", {.stream = "7", .start = 900, .duration = 50, .correlation = 1});
  b.Kernel("n", {.stream = "8", .start = 500, .duration = 900, .correlation = 1});
  b.Memset("m", {.start = 700, .duration = 10, .correlation = 1});
  b.Kernel("n", {.start = 600, .duration = 10, .correlation = 5});
  const Trace trace = std::move(b).Finish();
  const LaunchTable table = TabulateLaunches(trace, LinkLaunches(trace));
  EXPECT_EQ(table.graphs_under_1ms, 1u);
  EXPECT_EQ(table.graphs_1_to_5ms, 2u);
  EXPECT_EQ(table.graphs_over_5ms, 1u);
  ASSERT_EQ(table.graphs.size(), 4u);
  EXPECT_EQ(table.graphs[0].gpu_events, 3u);
  EXPECT_EQ(table.graphs[0].work, (Interval{{500}, {1400}}));
  EXPECT_EQ(table.graphs[1].call, (Interval{{10'000'000}, {11'000'000}}));
  EXPECT_EQ(table.graphs[1].gpu_events, 0u);
  EXPECT_TRUE(table.graphs[1].work.empty());
  EXPECT_EQ(table.graph_calls.count, 4u);
  EXPECT_EQ(table.graph_calls.p50, DurationNs{1'000'000});
  EXPECT_EQ(table.graph_calls.max, DurationNs{5'000'001});
}

TEST(Launches, GraphsAddUpOnRandomTraces) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
    TraceBuilder b;
    for (int64_t i = below(30); i > 0; --i) {
      b.Host("cuda_runtime", below(3) == 0 ? "cudaLaunchKernel" : "cudaGraphLaunch",
             {.start = below(100'000'000), .duration = below(8'000'000), .correlation = below(30)});
    }
    for (int64_t i = below(60); i > 0; --i) {
      b.Kernel("k",
               {.start = below(100'000'000), .duration = below(100), .correlation = below(30)});
    }
    const Trace trace = std::move(b).Finish();
    for (const bool half : {false, true}) {
      Scope scope;
      if (half) scope.window = Interval{{0}, {50'000'000}};
      const LaunchTable table = TabulateLaunches(trace, LinkLaunches(trace), scope);
      EXPECT_EQ(table.graphs_under_1ms + table.graphs_1_to_5ms + table.graphs_over_5ms,
                table.graphs.size());
      EXPECT_EQ(table.graph_calls.count, table.graphs.size());
      DurationNs time;
      uint64_t pieces = 0;
      for (const GraphLaunch& graph : table.graphs) {
        time += graph.call.length();
        pieces += graph.gpu_events;
      }
      EXPECT_EQ(time, table.graph_calls.total);
      if (half) {
        EXPECT_LE(pieces, table.graph_gpu_events);  // some pieces were launched before the window
      } else {
        EXPECT_EQ(pieces, table.graph_gpu_events);
      }
    }
  }
}

TEST(Launches, WindowsThatTouchAddUp) {
  std::mt19937 random(7);
  TraceBuilder b;
  for (int64_t i = 0; i < 500; ++i) {
    const auto at = static_cast<int64_t>(random() % 10'000);
    b.Host("cuda_runtime", i % 7 == 0 ? "cudaGraphLaunch" : "cudaLaunchKernel",
           {.start = at, .duration = static_cast<int64_t>(random() % 50), .correlation = i});
    for (auto k = random() % 3; k > 0; --k) {
      b.Kernel(
          "k",
          {.start = at + static_cast<int64_t>(random() % 200), .duration = 20, .correlation = i});
    }
  }
  const Trace trace = std::move(b).Finish();
  const LaunchLinks links = LinkLaunches(trace);
  const LaunchTable all = TabulateLaunches(trace, links);
  const LaunchTable left =
      TabulateLaunches(trace, links, {.window = Interval{{0}, {4000}}, .device = ""});
  const LaunchTable right =
      TabulateLaunches(trace, links, {.window = Interval{{4000}, {20'000}}, .device = ""});
  EXPECT_EQ(all.gpu_events, left.gpu_events + right.gpu_events);
  EXPECT_EQ(all.gpu_events, all.with_launch + all.without_launch);
  EXPECT_EQ(all.graphs.size(), left.graphs.size() + right.graphs.size());
  EXPECT_EQ(all.graph_gpu_events, left.graph_gpu_events + right.graph_gpu_events);
  EXPECT_EQ(all.shorter_than_launch, left.shorter_than_launch + right.shorter_than_launch);
  EXPECT_EQ(all.delay.total, left.delay.total + right.delay.total);
  EXPECT_EQ(all.delay.count, left.delay.count + right.delay.count);
}

TEST(Launches, AnEmptyTraceHasNone) {
  const Trace trace = TraceBuilder().Finish();
  const LaunchTable table = TabulateLaunches(trace, LinkLaunches(trace));
  EXPECT_EQ(table.gpu_events, 0u);
  EXPECT_TRUE(table.queues.empty());
  EXPECT_TRUE(table.apis.empty());
}

// 30 calls of 125 us, each with 120 us of overhead inside, and 10 calls of 5 us.
TEST(Launches, TellHowMuchOfThemIsTheProfilers) {
  TraceBuilder b;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t start = i * 200'000, duration = i < 10 ? 5'000 : 125'000;
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.pid = "10", .tid = "10", .start = start, .duration = duration, .correlation = i});
    b.Host("cuda_driver", "cuLaunchKernel",
           {.pid = "10", .tid = "10", .start = start + 1'000, .duration = duration - 2'000});
    b.Kernel("k", {.start = start + duration, .duration = 10'000, .correlation = i});
    if (i < 10) continue;
    b.Host("overhead", i == 10 ? "Activity Buffer Request" : "Command Buffer Full",
           {.pid = "-1", .tid = "0", .start = start + 2'000, .duration = 120'000});
  }
  b.Host("cuda_runtime", "cudaDeviceSynchronize",
         {.pid = "10", .tid = "10", .start = 9'000'000, .duration = 50'000});
  b.Host("overhead", "Command Buffer Full",
         {.pid = "-1", .tid = "0", .start = 9'000'000, .duration = 50'000});
  const Trace trace = std::move(b).Finish();
  const auto overhead = TabulateLaunches(trace, LinkLaunches(trace)).overhead;
  ASSERT_TRUE(overhead.has_value());
  EXPECT_EQ(overhead->calls, 40u) << "a call in another is not one more";
  EXPECT_EQ(overhead->held_up, 30u);
  EXPECT_EQ(overhead->call_time.ns, 3'800'000);
  EXPECT_EQ(overhead->total.ns, 3'600'000);
  ASSERT_EQ(overhead->rows.size(), 2u);
  EXPECT_EQ(overhead->rows[0].name, "Command Buffer Full");
  EXPECT_EQ(overhead->rows[0].count, 29u);
  EXPECT_EQ(overhead->rows[0].total.ns, 29 * 120'000);
  EXPECT_EQ(overhead->rows[1].name, "Activity Buffer Request");
  EXPECT_EQ(overhead->rows[1].total.ns, 120'000);
}

TEST(Launches, WithoutARecordedOverheadItsShareIsUnknown) {
  TraceBuilder b;
  b.Host("cuda_runtime", "cudaLaunchKernel", {.duration = 10, .correlation = 1});
  b.Kernel("k", {.correlation = 1});
  const Trace trace = std::move(b).Finish();
  EXPECT_FALSE(TabulateLaunches(trace, LinkLaunches(trace)).overhead.has_value());
}

}  // namespace
}  // namespace tacho
