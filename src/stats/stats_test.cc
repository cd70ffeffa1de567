#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "model/trace_builder.h"
#include "stats/figures.h"
#include "stats/range_sweep.h"
#include "stats/reports.h"
#include "stats/trace_times.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

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

Table Make(std::string_view report, const std::vector<Trace>& traces, size_t most = SIZE_MAX - 1) {
  std::vector<StatsTrace> of;
  of.reserve(traces.size());
  for (const Trace& trace : traces) of.emplace_back(trace, kAll);
  const auto found = FindStatsReport(report);
  EXPECT_TRUE(found) << found.error().message;
  if ((*found)->of_traces != nullptr) return (*found)->of_traces(of, most);
  WorkTimes times;
  for (const StatsTrace& trace : of) AddTimesOf(trace, (*found)->needs, times);
  return (*found)->of_times(times, 2);
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

// Compares with the definitions, for values that long doubles hold exactly.
TEST(StatsFigures, AreThoseOfTheSortedValuesHoweverTheyAreDivided) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    size_t count = 1 + random() % (round % 10 == 0 ? 20'000 : 30);
    const uint64_t bits = random() % 50;
    const auto base = static_cast<int64_t>(random() >> 14) * (round % 2 == 0 ? 1 : -1);
    std::vector<int64_t> values(count);
    for (int64_t& value : values)
      value = base + static_cast<int64_t>((random() >> 14) >> (bits + random() % 2 * 8) % 50);
    std::vector<FigureList> lists;
    std::vector<int64_t> repeated;
    for (std::span<const int64_t> rest = values; !rest.empty();) {
      const auto list = rest.first(1 + random() % rest.size());
      const uint64_t times = round % 3 == 0 ? 1 + random() % 4 : 1;
      lists.push_back({list, times});
      for (uint64_t i = 0; i < times; ++i)
        repeated.insert(repeated.end(), list.begin(), list.end());
      rest = rest.subspan(list.size());
    }
    const Figures figures = FiguresOf(lists);
    values = repeated;
    count = values.size();
    std::ranges::sort(values);
    long double total = 0, squares = 0;
    for (const int64_t value : values) total += static_cast<long double>(value);
    const long double avg = total / static_cast<long double>(count);
    for (const int64_t value : values)
      squares += (static_cast<long double>(value) - avg) * (static_cast<long double>(value) - avg);
    ASSERT_EQ(figures.count, static_cast<int64_t>(count));
    ASSERT_EQ(figures.min, values.front());
    ASSERT_EQ(figures.max, values.back());
    ASSERT_DOUBLE_EQ(figures.avg, static_cast<double>(avg));
    const double upper = static_cast<double>(values[count / 2]);
    ASSERT_EQ(figures.med,
              count % 2 == 1 ? upper : (upper + static_cast<double>(values[count / 2 - 1])) / 2);
    const double stddev =
        count == 1 ? 0
                   : static_cast<double>(std::sqrt(squares / static_cast<long double>(count - 1)));
    ASSERT_NEAR(figures.stddev, stddev, stddev * 1e-9) << round;
  }
}

// What a damaged file may hold.
TEST(StatsFigures, OfTheLargestValuesAreFinite) {
  const Figures figures = FiguresOf({INT64_MIN, INT64_MAX, INT64_MAX, INT64_MIN, INT64_MAX});
  EXPECT_EQ(figures.total, INT64_MAX - 2);
  EXPECT_EQ(figures.med, 0x1p63);
  EXPECT_NEAR(figures.stddev, 1.01e19, 1e17);
  EXPECT_EQ(FiguresOf({INT64_MAX, INT64_MAX}).total, INT64_MAX);
}

TEST(StatsFigures, AreRoundedAsSqliteDoes) {
  EXPECT_EQ(RoundAsSqlite(13882457 / 20.0, 1), 694122.9);  // ...2.85, as a double a little less
  EXPECT_EQ(RoundAsSqlite(160735 / 100.0, 1), 1607.4);
  EXPECT_EQ(RoundAsSqlite(0.25, 1), 0.3);
  EXPECT_EQ(RoundAsSqlite(0.2499, 1), 0.2);
  EXPECT_EQ(RoundAsSqlite(-0.25, 1), -0.3);
  EXPECT_EQ(RoundAsSqlite(0, 1), 0);
}

TEST(StatsReports, FiguresGiveWayToNamesOfKernels) {
  TraceBuilder b;
  b.Kernel("nvjet_tst_192x192_64x4_2x1_v_bz_coopB", {.start = 0, .duration = 4'000'000});
  std::vector<Trace> traces;
  traces.push_back(std::move(b).Finish());
  TextStyle style;
  style.width = 100;
  EXPECT_THAT(RenderText(Make("cuda_gpu_kern_sum", traces), style),
              AllOf(HasSubstr("Max (ns)"), HasSubstr("nvjet_tst_192x192_64x4_2x1_v_bz_coopB")));
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

// Rounds as printf does, not by decimal halves: the doubles are a little less than these.
TEST(StatsReports, RoundBytesAsNsysDoes) {
  for (const auto& [bytes, shown] : {std::pair{"7500", "0.007,1,"},
                                     {"4500", "0.004,1,"},
                                     {"1048500", "1.048,1,"},
                                     {"2500", "0.003,1,"}}) {
    TraceBuilder b;
    b.Memcpy("Memcpy HtoD (Pinned -> Device)",
             {.start = 0, .duration = 7, .args = {{"bytes", bytes}}});
    EXPECT_THAT(Lines("gpumemsizesum", std::move(b))[0], StartsWith(shown)) << bytes;
  }
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

// Two ranges of one name around a launch: the kernel counts in both.
TEST(StatsReports, CountAKernelInEachRangeAroundItsLaunch) {
  TraceBuilder b;
  b.Host("user_annotation", "step", {.start = 0, .duration = 100});
  b.Host("user_annotation", "step", {.start = 10, .duration = 80});
  for (int64_t i = 0; i < 3; ++i) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 5 + 10 * i, .duration = 2, .correlation = i});
    b.Kernel("k", {.start = 1000 + 100 * i, .duration = 10 * (i + 1), .correlation = i});
  }
  EXPECT_THAT(Lines("nvtx_kern_sum", std::move(b)),
              ElementsAre("step,PushPop,1,1,2,3,110,22.0,20.0,10,30,8.4,k"));
}

// Threads of two virtual machines may have the same numbers.
TEST(StatsReports, SumUpThreadsWithTheSameNumbers) {
  std::vector<Trace> traces;
  for (int64_t machine = 0; machine < 2; ++machine) {
    TraceBuilder b;
    b.Host("user_annotation", "step", {.start = 0, .duration = 100});
    b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 10, .duration = 5, .correlation = 1});
    b.Kernel("k", {.start = 50, .duration = 10 + 10 * machine, .correlation = 1});
    traces.push_back(std::move(b).Finish());
  }
  EXPECT_THAT(LinesOf(Make("nvtx_kern_sum", traces)),
              ElementsAre("step,PushPop,1,1,2,2,30,15.0,15.0,10,20,7.1,k"));
}

// What is not shown takes no memory.
TEST(StatsReports, FoldRowsOfTheTraceThatAreNotShown) {
  TraceBuilder b;
  for (int64_t i = 0; i < 9; ++i)
    b.Kernel("k" + std::to_string(i), {.start = 10 * (9 - i), .duration = 1});
  std::vector<Trace> traces;
  traces.push_back(std::move(b).Finish());
  Table whole = Make("cuda_gpu_trace", traces);
  EXPECT_EQ(whole.rows.size(), 9U);
  EXPECT_EQ(Make("cuda_gpu_trace", traces, 8).rows.size(), 9U) << "a single row is not folded";
  Table shown = Make("cuda_gpu_trace", traces, 3);
  EXPECT_EQ(shown.rows.size(), 4U);
  FoldRows(whole, 3);
  EXPECT_EQ(RenderCsv(shown), RenderCsv(whole));
  FoldRows(shown, 3);
  EXPECT_EQ(RenderCsv(shown), RenderCsv(whole));
}

// Sums stop at the largest number of 64 bits.
TEST(StatsReports, OfTheLargestTimesDoNotOverflow) {
  TraceBuilder b;
  for (int64_t i = 0; i < 3; ++i)
    b.Host("user_annotation", "r" + std::to_string(i), {.start = i, .duration = INT64_MAX / 2});
  std::vector<Trace> traces;
  traces.push_back(std::move(b).Finish());
  Table table = Make("nvtx_sum", traces);
  EXPECT_THAT(LinesOf(table)[0], HasSubstr("50.0,4611686018427387903,1,"));
  FoldRows(table, 0);
  EXPECT_THAT(LinesOf(table)[0], HasSubstr(",9223372036854775807,3,"));
}

// Compares with a look at all pairs, for ranges that nest, overlap, touch and repeat.
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
    size_t launches = 0;
    ForEachLaunch(stats, true, [&](const LaunchInRanges& launch) {
      ++launches;
      std::set<uint32_t> expected;
      for (uint32_t j = 0; j < ranges.size(); ++j) {
        if (ranges[j].track == trace.host_calls.track[launch.call] &&
            around(ranges[j].when, trace.host_calls.When(launch.call)))
          expected.insert(j);
      }
      ASSERT_EQ(std::set<uint32_t>(launch.ranges.begin(), launch.ranges.end()), expected) << round;
      ASSERT_EQ(launch.ranges.size(), expected.size());
    });
    ASSERT_EQ(launches, 8U);
  }
}

// Ranges that nothing ended lie around all that comes later; other ranges have ended by then.
TEST(RangeSweep, LeavesOutOuterRangesAndSaysSo) {
  const auto build = [](int64_t open, int64_t ended) {
    TraceBuilder b;
    b.Host("user_annotation", "all", {.start = 0, .duration = 1'000'000});
    for (int64_t i = 1; i < open; ++i)
      b.Host("user_annotation", "open", {.start = i, .duration = 1'000'000 - i});
    for (int64_t i = 0; i < ended; ++i)
      b.Host("user_annotation", "ended", {.start = 20'000 + i, .duration = 50'000 - i});
    b.Host("user_annotation", "last", {.start = 60'000, .duration = 900'000});
    b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 100'000, .duration = 5, .correlation = 1});
    b.Kernel("k", {.start = 200'000, .duration = 10, .correlation = 1});
    std::vector<Trace> traces;
    traces.push_back(std::move(b).Finish());
    return traces;
  };
  const auto ranges_around = [](const Trace& trace, size_t cut) {
    size_t count = 0;
    EXPECT_EQ(ForEachLaunch(StatsTrace(trace, kAll), true,
                            [&](const LaunchInRanges& launch) { count = launch.ranges.size(); }),
              cut);
    return count;
  };
  EXPECT_EQ(ranges_around(build(9'999, 0).front(), 0), 10'000U);
  EXPECT_EQ(ranges_around(build(9'000, 12'000).front(), 0), 9'001U) << "ended ones do not count";
  const std::vector<Trace> traces = build(10'000, 0);
  EXPECT_EQ(ranges_around(traces.front(), 1), 10'000U);
  for (const char* const report : {"nvtx_kern_sum", "nvtx_gpu_proj_sum"}) {
    EXPECT_THAT(Make(report, traces).lacks, HasSubstr("1 launch lies in more than 10,000 ranges"))
        << report;
    EXPECT_EQ(Make(report, build(5, 0)).lacks, "") << report;
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
  EXPECT_THAT(FindStatsReport("gpukernsum:base").error().message,
              HasSubstr("cuda_gpu_kern_gb_sum takes no argument ':base'"));
  EXPECT_THAT(FindStatsReport("nothing:base").error().message,
              HasSubstr("no report 'nothing': there are nvtx_sum, osrt_sum, "));
}

}  // namespace
}  // namespace tacho
