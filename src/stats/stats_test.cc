#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "model/trace_builder.h"
#include "stats/figures.h"
#include "stats/range_sweep.h"
#include "stats/reports.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr StatsTrace::Needs kAll{.launches = true, .ranges = true};

// The rows of a report as the lines of a CSV file, after its heading.
std::vector<std::string> LinesOf(const Table& table) {
  std::vector<std::string> lines;
  std::string text = RenderCsv(table);
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  lines.erase(lines.begin());
  return lines;
}

Table Make(std::string_view report, const std::vector<Trace>& traces) {
  std::vector<StatsTrace> of;
  of.reserve(traces.size());
  for (const Trace& trace : traces) of.emplace_back(trace, kAll);
  const auto found = FindStatsReport(report);
  EXPECT_TRUE(found) << found.error().message;
  return (*found)->make(of);
}
std::vector<std::string> Lines(std::string_view report, TraceBuilder builder) {
  std::vector<Trace> traces;
  traces.push_back(std::move(builder).Finish());
  return LinesOf(Make(report, traces));
}

TEST(StatsFigures, AreThoseOfASample) {
  std::vector<int64_t> values{100448, 125951};
  const Figures two = FiguresOf(values);
  EXPECT_EQ(two.total, 226399);
  EXPECT_EQ(two.med, 113199.5);
  EXPECT_EQ(RoundAsSqlite(two.stddev, 1), 18033.3);
  values = {5};
  EXPECT_EQ(FiguresOf(values).stddev, 0);
  values = {9, 1, 5};
  EXPECT_EQ(FiguresOf(values).med, 5);
}

TEST(StatsFigures, AreRoundedAsSqliteDoes) {
  EXPECT_EQ(RoundAsSqlite(13882457 / 20.0, 1), 694122.9);  // ...2.85, as a double a little less
  EXPECT_EQ(RoundAsSqlite(160735 / 100.0, 1), 1607.4);
  EXPECT_EQ(RoundAsSqlite(0.25, 1), 0.3);
  EXPECT_EQ(RoundAsSqlite(0.2499, 1), 0.2);
  EXPECT_EQ(RoundAsSqlite(-0.25, 1), -0.3);
  EXPECT_EQ(RoundAsSqlite(0, 1), 0);
}

TEST(StatsReports, SumUpKernelsByNameAndByGrid) {
  const auto build = [] {
    TraceBuilder b;
    b.Kernel(
        "gemm",
        {.start = 0, .duration = 30, .args = {{"grid", "[4, 2, 1]"}, {"block", "[128, 1, 1]"}}});
    b.Kernel(
        "gemm",
        {.start = 40, .duration = 10, .args = {{"grid", "[8, 2, 1]"}, {"block", "[128, 1, 1]"}}});
    b.Kernel(
        "add, \"quick\"",
        {.start = 60, .duration = 40, .args = {{"grid", "[1, 1, 1]"}, {"block", "[1, 1, 1]"}}});
    b.Memset("Memset (Device)", {.start = 100, .duration = 5});
    return b;
  };
  EXPECT_THAT(Lines("cuda_gpu_kern_sum", build()),
              ElementsAre("50.0,40,1,40.0,40.0,40,40,0.0,\"add, \"\"quick\"\"\"",
                          "50.0,40,2,20.0,20.0,10,30,14.1,gemm"));
  EXPECT_THAT(
      Lines("gpukernsum", build()),
      ElementsAre(
          "50.0,40,1,40.0,40.0,40,40,0.0,   1    1    1,   1    1    1,\"add, \"\"quick\"\"\"",
          "37.5,30,1,30.0,30.0,30,30,0.0,   4    2    1, 128    1    1,gemm",
          "12.5,10,1,10.0,10.0,10,10,0.0,   8    2    1, 128    1    1,gemm"));
}

TEST(StatsReports, TellCopiesByTheirWayAndCountTheirBytes) {
  const auto build = [] {
    TraceBuilder b;
    b.Memcpy("Memcpy HtoD (Pinned -> Device)",
             {.start = 0, .duration = 1000, .args = {{"bytes", "4000"}}});
    b.Memcpy("Memcpy HtoD (Pageable -> Device)",
             {.start = 0, .duration = 3000, .args = {{"bytes", "8000"}}});
    b.Memcpy("Memcpy UvmDtoH (Managed -> Pageable)", {.start = 9, .duration = 1000});
    b.Memset("Memset (Device)", {.start = 20, .duration = 0, .args = {{"bytes", "16"}}});
    return b;
  };
  EXPECT_THAT(
      Lines("gpumemtimesum", build()),
      ElementsAre("80.0,4000,2,2000.0,2000.0,1000,3000,1414.2,[CUDA memcpy HtoD]",
                  "20.0,1000,1,1000.0,1000.0,1000,1000,0.0,[CUDA Unified Memory memcpy DtoH]",
                  "0.0,0,1,0.0,0.0,0,0,0.0,[CUDA memset]"));
  EXPECT_THAT(Lines("gpumemsizesum", build()),
              ElementsAre("0.012,2,0.006,0.006,0.004,0.008,0.003,[CUDA memcpy HtoD]",
                          "0.000,1,0.000,0.000,0.000,0.000,0.000,[CUDA memset]"));
  EXPECT_THAT(Lines("gputrace", build())[0],
              "0,1000,,,,,,,,,,,0.004,4000.000,Pinned,Device,(0),,7,[CUDA memcpy HtoD]");
}

TEST(StatsReports, MeasureLaunches) {
  TraceBuilder b;
  for (int64_t i = 0; i < 2; ++i) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.pid = "12", .tid = "13", .start = 100 * i, .duration = 10, .correlation = i + 1});
  }
  b.Kernel("k", {.device = "1", .start = 15, .duration = 20, .correlation = 1});  // 5 in the queue
  b.Kernel("k", {.device = "1", .start = 105, .duration = 2, .correlation = 2});  // none
  b.Kernel("k", {.device = "1", .start = 0, .duration = 2, .correlation = 77});   // no launch
  EXPECT_THAT(
      Lines("cuda_kern_exec_sum", std::move(b)),
      ElementsAre("12,13,1,2,1,22.5,22.5,10,35,17.7,10.0,10.0,10,10,0.0,5.0,5.0,5,5,0.0,11.0,"
                  "11.0,2,20,12.7,cudaLaunchKernel,k"));
}

TEST(StatsReports, PutKernelsIntoAllRangesAroundTheirLaunch) {
  const auto build = [] {
    TraceBuilder b;
    b.Host("user_annotation", "step", {.start = 0, .duration = 100});
    b.Host("user_annotation", "layer", {.start = 10, .duration = 20});
    b.Host("user_annotation", "layer", {.start = 40, .duration = 20});
    b.Host("user_annotation", "elsewhere", {.tid = "2", .start = 0, .duration = 100});
    const int64_t starts[] = {12, 45, 70, 200};
    for (int64_t i = 0; i < 4; ++i) {
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.start = starts[i], .duration = 5, .correlation = i});
      b.Kernel("k", {.start = 1000 + 100 * i, .duration = 10, .correlation = i});
    }
    b.Kernel("lost", {.start = 1, .duration = 3, .correlation = 99});
    return b;
  };
  EXPECT_THAT(Lines("nvtx_kern_sum", build()),
              ElementsAre(",,,,0,1,3,3.0,3.0,3,3,0.0,lost", ",,1,1,0,1,10,10.0,10.0,10,10,0.0,k",
                          "layer,PushPop,1,1,2,2,20,10.0,10.0,10,10,0.0,k",
                          "step,PushPop,1,1,1,3,30,10.0,10.0,10,10,0.0,k"));
  EXPECT_THAT(Lines("nvtx_gpu_proj_sum", build()),
              ElementsAre("step,PushPop,210,100,1,210.0,210.0,210,210,0.0,3,3.0,0.0,2.0",
                          "layer,PushPop,20,40,2,10.0,10.0,10,10,0.0,2,1.0,1.0,0.0"));
  EXPECT_THAT(Lines("nvtxgpuproj", build())[1], "layer,1000,10,10,20,PushPop,1,1,1,1,0,2,1,:1:2");
}

// Ranges that nest, overlap, touch and repeat; what lies around what, by looking at all pairs.
TEST(RangeSweep, FindsWhatAllPairsShow) {
  std::mt19937_64 random(7);
  const auto upto = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  for (int round = 0; round < 200; ++round) {
    TraceBuilder b;
    for (int64_t i = upto(12); i >= 0; --i) {
      b.Host("user_annotation", "r" + std::to_string(i),
             {.tid = upto(2) == 0 ? "1" : "2", .start = upto(20), .duration = upto(15)});
    }
    for (int64_t i = 0; i < 8; ++i) {
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.tid = upto(2) == 0 ? "1" : "2",
              .start = upto(25),
              .duration = upto(4),
              .correlation = i});
      b.Kernel("k", {.start = upto(100), .duration = 1, .correlation = i});
    }
    const Trace trace = std::move(b).Finish();
    const StatsTrace stats(trace, kAll);
    const std::vector<NvtxRange>& ranges = stats.ranges();
    const std::vector<uint32_t> parents = ParentsOf(ranges);
    const auto around = [](Interval outer, Interval inner) {
      return outer.start <= inner.start && outer.end >= inner.end;
    };
    for (uint32_t i = 0; i < ranges.size(); ++i) {
      std::optional<int64_t> tightest;
      for (uint32_t j = 0; j < ranges.size(); ++j) {
        const bool is_equal = ranges[i].when == ranges[j].when;
        if (i == j || ranges[i].track != ranges[j].track ||
            !around(ranges[j].when, ranges[i].when) || (is_equal && j > i))
          continue;
        tightest = std::min(tightest.value_or(INT64_MAX), ranges[j].when.length().ns);
      }
      ASSERT_EQ(parents[i] != kNoRange, tightest.has_value()) << round << " range " << i;
      if (tightest) {
        ASSERT_EQ(ranges[parents[i]].when.length().ns, *tightest);
      }
    }
    for (const LaunchInRanges& launch : LaunchesInRanges(stats, true)) {
      std::set<uint32_t> expected;
      for (uint32_t j = 0; j < ranges.size(); ++j) {
        if (ranges[j].track == trace.host_calls.track[launch.call] &&
            around(ranges[j].when, trace.host_calls.When(launch.call)))
          expected.insert(j);
      }
      ASSERT_EQ(std::set<uint32_t>(launch.ranges.begin(), launch.ranges.end()), expected) << round;
      ASSERT_EQ(launch.ranges.size(), expected.size());
    }
  }
}

TEST(StatsReports, OfNothingHaveNoRows) {
  for (const StatsReport& report : StatsReports()) {
    EXPECT_THAT(Lines(report.name, TraceBuilder()), IsEmpty()) << report.name;
    EXPECT_THAT(LinesOf(Make(report.name, {})), IsEmpty()) << report.name;
  }
}

TEST(StatsReports, AreFoundByNewAndOldNames) {
  EXPECT_EQ((*FindStatsReport("cudaapisum"))->name, "cuda_api_sum");
  EXPECT_EQ((*FindStatsReport("cuda_api_sum"))->name, "cuda_api_sum");
  for (const auto& [old, now] : OldStatsNames()) EXPECT_EQ((*FindStatsReport(old))->name, now);
  const auto unknown = FindStatsReport("cuda_api_sums");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(unknown.error().message, HasSubstr("did you mean cuda_api_sum?"));
}

}  // namespace
}  // namespace tacho
