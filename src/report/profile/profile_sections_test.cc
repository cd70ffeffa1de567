#include "report/profile/profile_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/results_for_test.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ProfileText, OneRank) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  EXPECT_EQ(ProfileText(run, {}), R"(
════════════════════════════════════════════════════════════════════════════════
  Profile Analysis: rank 0, run/rank0.pt.trace.json.gz
════════════════════════════════════════════════════════════════════════════════

── Hardware & Config ──
  GPU 0:                 NVIDIA H200, 150 GB, 132 SMs
  world size:            2
  engine:                vLLM 0.11.0
  events:                9

── Timeline ──
  trace wall time:       1.20 ms
  GPU active span:       1.00 ms
  GPU busy:              600 us
  GPU idle (bubbles):    400 us

  ████████████████████████                  60.0 %  GPU busy
  ████████████████                          40.0 %  GPU idle

── GPU Kernel Time Breakdown ──
  total kernel time: 600 us (2 kernels, 100.0 % of it classified)
  category                  total us  of kernel time %  kernels
  gemm.dense  ████████           400              66.7        1
  norm        ████               200              33.3        1

── Top 10 Individual Kernels (by total GPU time) ──
  kernel               category    total us  kernel %  count  median us  p99 us
  gemm<128, "x">       gemm.dense       400      66.7      1        400     400
  norm\x1b[31m_kernel  norm             200      33.3      1        200     200

── CUDA Graph Analysis ──
  graph launches:        0

  step     n  total us  median us  p99 us  max us  period us  ctx tok  gen tok   tok/s
  prefill  1       490        490     490     490        600       32        0  53,333
  decode   1       500        500     500     500                   0        1

── CUDA Graph Locations in Timeline ──
  prefill  |█████████████████████████████·········································|
  decode   |···································██████████████████████████████·····|
           0                                                               1.20 ms

── Top GPU Idle Gaps (Bubbles) ──
  all idle time             us  idle %
  host-late      ██████    300    75.0
  unknown        ██        100    25.0

  gap us  at us  cause      host did     before  after
     300    500  host-late  aten::empty  gemm    norm
     100    900  unknown                 norm    Memcpy HtoD

── Per-Stream GPU Activity ──
  stream  device  events  sum us  busy us  window %  overlaps  mostly          main category
  7       0            3     650      600      60.0         1  compute 92.3 %  gemm.dense 61.5 %

── Communication Overhead ──
  no communication on the device

════════════════════════════════════════════════════════════════════════════════
  Performance Bottleneck Analysis
════════════════════════════════════════════════════════════════════════════════
  [HIGH] GPU busy 60.0 % of its window: 400 us idle

════════════════════════════════════════════════════════════════════════════════
  Optimization Recommendations
════════════════════════════════════════════════════════════════════════════════
  The most that can be gained where, were that cost gone entirely:
  idle.host-late              300 us = 30.0 % of the window
  idle.unknown                100 us = 10.0 % of the window
  copies                     50.0 us = 5.0 % of the window
  what is unknown may be of any cause of idle time, which then gains more
 orphan-gpu-events (1): GPU work whose launch is not in the recording is counted as work all the
   same; first at stream 7
)");
}

TEST(ProfileText, TheTwelveTitlesInTheOrderOfTheScript) {
  const std::string text = ProfileText(TwoRanksForTest(), {});
  size_t at = 0;
  for (const char* title :
       {"Hardware & Config", "Timeline", "GPU Kernel Time Breakdown",
        "Individual Kernels (by total GPU time)", "CUDA Graph Analysis",
        "CUDA Graph Locations in Timeline", "Top GPU Idle Gaps (Bubbles)",
        "Per-Stream GPU Activity", "Communication Overhead", "Performance Bottleneck Analysis",
        "Optimization Recommendations", "Cross-Rank Comparison"}) {
    at = text.find(title, at);
    ASSERT_NE(at, std::string::npos) << title;
  }
  EXPECT_THAT(text,
              HasSubstr("Profile Analysis: rank 1"));  // the script printed the first rank only
  EXPECT_THAT(text, HasSubstr("missing: rank 2 (1 of 3 ranks missing)"));
}

TEST(ProfileText, ATraceWithoutKernelsIsNoDivisionByZero) {
  RunAnalysis run;
  run.traces.emplace_back();
  const std::string text = ProfileText(run, {});
  EXPECT_THAT(text, HasSubstr("no kernel in this trace"));
  EXPECT_THAT(text, Not(HasSubstr("none of the six checks"))) << "nothing could be checked";
}

// A rank without device times is left out of the utilisation.
TEST(ProfileText, OfRanksWithoutTimesNothingIsShown) {
  RunAnalysis run = TwoRanksForTest();
  run.traces[1].devices.clear();
  run.traces[1].integrity.impossible = {.compared = 400, .out_of_order = 300};
  const std::string text = ProfileText(run, {});
  EXPECT_THAT(text, HasSubstr("utilisation: 60.0 % to 60.0 % (spread 0.0 points)"));
  EXPECT_THAT(text, HasSubstr("device time cannot be told: 300 of 400"));
}

TEST(ProfileText, APartOfATraceIsNotTakenForAllOfIt) {
  RunAnalysis run;
  run.traces.emplace_back().scope.window = {{0}, {1}};
  run.traces[0].steps.method = "annotated";
  const std::string text = ProfileText(run, {});
  EXPECT_THAT(text, HasSubstr("no kernel in this part of the trace"));
  EXPECT_THAT(text, HasSubstr("steps: none in this part of the trace"));
}

TEST(ProfileText, NamesOfDevicesAreMadeVisible) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  run.traces[0].devices[0].device = run.traces[0].header.devices[0].id = "\x1b[31m";
  EXPECT_THAT(ProfileText(run, {}), HasSubstr("GPU \\x1b[31m:"));
}

TEST(AddGraphs, LaunchesByTheirTimeAndWhereTheyLie) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.span = {{0}, {100'000'000}};
  trace.steps = {};
  LaunchTable& launches = trace.launches;
  const auto add = [&](int64_t start_us, int64_t call_us, uint64_t pieces) {
    GraphLaunch& graph = launches.graphs.emplace_back();
    graph.call = {{start_us * 1000}, {(start_us + call_us) * 1000}};
    if (pieces == 0) return;
    graph.gpu_events = pieces;
    graph.work = {graph.call.end, {graph.call.end.ns + 4'000'000}};
  };
  add(0, 100, 30);
  add(40'000, 2'000, 40);
  add(80'000, 6'000, 0);
  launches.graph_gpu_events = 70;
  launches.max_gpu_events_per_launch = 40;
  launches.graph_calls = {3,           {8'100'000}, {100'000},  {6'000'000},
                          {2'000'000}, {6'000'000}, {6'000'000}};
  launches.graphs_under_1ms = launches.graphs_1_to_5ms = launches.graphs_over_5ms = 1;
  Document document;
  AddGraphs(document, trace);
  AddGraphLocations(document, trace);
  EXPECT_EQ(RenderText(std::move(document), {}, kScriptLayout), R"(
── CUDA Graph Analysis ──
  graph launches:        3
  CPU time in them:      8.10 ms
  one launch:            median 2.00 ms, p99 6.00 ms, longest 6.00 ms
  by their time:         1 below 1 ms, 1 of 1 to 5 ms, 1 above 5 ms
  GPU work under them:   70 pieces, 40 at most under one launch
  steps: cannot tell, because the trace has no step annotation

── CUDA Graph Locations in Timeline ──
  launches |█···························██··························█████·········|
  GPU work |███··························████·····································|
           0                                                                100 ms

  launch at ms  call us  GPU work  starts after us  its span us
          80.0    6,000         0
          40.0    2,000        40            2,000        4,000
             0      100        30              100        4,000
)");
}

TEST(AddBottlenecks, ChecksByTheScriptsThresholds) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.devices[0].busy = {850'000};
  trace.devices[0].idle = {150'000};
  trace.launches.graph_calls = {3,           {20'000'000}, {1'000'000}, {14'000'000},
                                {5'000'000}, {14'000'000}, {14'000'000}};
  trace.kernels.categories = {{"comm.moe_all_to_all", 4, {160'000}}, {"moe.routing", 3, {36'000}}};
  trace.ops.rows[0].name = "aten::copy_";
  trace.ops.rows[0].cpu_total = {150'000'000};
  Document document;
  AddBottlenecks(document, trace);
  const std::string text = RenderText(std::move(document), {}, kScriptLayout);
  EXPECT_THAT(text, HasSubstr("[MED]  GPU busy 85.0 % of its window: 150 us idle"));
  EXPECT_THAT(text, HasSubstr("[HIGH] graph launches take up to 14.0 ms (median 5.00 ms"));
  EXPECT_THAT(
      text,
      HasSubstr("[HIGH] MoE all-to-all takes 160 us, 26.7 % of kernel time, 40.0 us on average"));
  EXPECT_THAT(text, HasSubstr("[MED]  MoE routing takes 36.0 us, 6.0 % of kernel time"));
  EXPECT_THAT(text, HasSubstr("[MED]  aten::copy_ takes 150 ms of host time in 2 calls"));
  EXPECT_THAT(text, Not(HasSubstr("[LOW]")));
}

}  // namespace
}  // namespace tacho
