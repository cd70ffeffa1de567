#include "report/tables/result_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/results_for_test.h"
#include "text/table.h"

namespace tacho {
namespace {

using testing::HasSubstr;

TEST(Table, OfKernelsKeepsTheCategoryRatherThanAFigure) {
  KernelTable kernels;
  KernelRow& row = kernels.rows.emplace_back();
  row.name = "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu";
  row.category = "comm.collective";
  row.device = "0";
  row.stats.count = 346'752;
  row.stats.total = kernels.total = {2'004'000'000};
  row.stats.p50 = row.stats.p99 = {5'000};
  const TextStyle style{.width = 80};
  const std::string text = RenderText(KernelsTable(kernels, {}, style), style);
  EXPECT_THAT(text, testing::HasSubstr("  comm.collective  "));
  EXPECT_THAT(text, testing::HasSubstr("\n left out: median ns, p99 ns ("));
  EXPECT_THAT(RenderText(KernelsTable(kernels, {}, {}), {.width = 140}), testing::HasSubstr("p99"));
}

TEST(GapsTable, FilesHaveWholeNames) {
  IdleTable idle;
  idle.gaps.push_back(
      {"0", {{0}, {5'000}}, "void f<ns::g<3> >(int)", "_Z1gi", IdleCause::kQueued, "", ""});
  EXPECT_THAT(RenderCsv(GapsTable(idle, {0}, true, {})),
              testing::HasSubstr(",void f<ns::g<3> >(int),_Z1gi\n"));
  EXPECT_THAT(RenderText(GapsTable(idle, {0}, true, {}), {}), testing::HasSubstr("f<g>"));
  TextStyle wide;
  wide.whole_names = true;
  EXPECT_THAT(RenderText(GapsTable(idle, {0}, true, wide), wide),
              testing::HasSubstr("void f<ns::g<3> >(int)"));
}

TEST(StepPhasesTable, TellsPeriodAndTokensASecond) {
  StepTable steps;
  steps.steps.push_back({{Phase::kDecode, 0, 0, 2, 2}, {{0}, {500'000}}, DurationNs{1'000'000}});
  steps.steps.push_back(
      {{Phase::kDecode, 0, 0, 4, 4}, {{1'000'000}, {1'400'000}}, DurationNs{2'000'000}});
  steps.steps.push_back({{Phase::kDecode, 0, 0, 9, 9}, {{3'000'000}, {3'400'000}}, std::nullopt});
  steps.steps.push_back(
      {{.phase = Phase::kOther}, {{4'000'000}, {4'400'000}}, DurationNs{1'000'000}});
  EXPECT_THAT(RenderCsv(StepPhasesTable(steps)),
              testing::AllOf(testing::HasSubstr(",1000000,0,15,2000.000000\n"),
                             testing::HasSubstr(",1000000,,,\n")));
}

TEST(StepPhasesTable, OfStepsThatLackWorkAddsUpTheOthers) {
  StepTable steps;
  for (const int64_t busy : {100'000, 200'000, 0}) {
    Step& step = steps.steps.emplace_back();
    step.label.phase = Phase::kDecode;
    step.when = {{0}, {500'000}};
    step.lost_work = busy == 0;
    if (busy > 0) step.device_busy = {busy};
  }
  const Table lossy = StepPhasesTable(steps);
  EXPECT_THAT(RenderText(lossy, {}),
              testing::AllOf(testing::HasSubstr("device ≥ us"), testing::HasSubstr("300")));
  EXPECT_THAT(RenderCsv(lossy), testing::HasSubstr("decode,3,1500000,,500000")) << "no sum";
  steps.steps.pop_back();
  EXPECT_THAT(RenderText(StepPhasesTable(steps), {}), testing::HasSubstr("  device us  "));
  EXPECT_THAT(RenderCsv(StepPhasesTable(steps)),
              testing::HasSubstr("decode,2,1000000,300000,500000"));
}

// Promise 1: categories, copies, the part counted twice and idle sum to the window, however many
// rows are folded.
TEST(WindowTable, AddsUpToTheWindow) {
  const TraceAnalysis trace = GpuTraceForTest();
  for (size_t keep = 0; keep < 4; ++keep) {
    Table table = WindowTable(TotalsOf(trace.devices), "WINDOW");
    FoldRows(table, keep);
    EXPECT_EQ(table.rows.back().cells[0], Cell("idle"));
    int64_t sum = 0;
    for (const TableRow& row : table.rows) sum += std::get<int64_t>(row.cells[2]);
    EXPECT_EQ(sum, 1'000'000) << keep;
  }
}

// A window cuts through work at its edges, while the table of kernels has that work in full.
TEST(WindowTable, CountsWorkAsFarAsItLiesInTheWindow) {
  TraceAnalysis trace = GpuTraceForTest();
  DeviceTime& device = trace.devices[0];
  device.window = {{200'000}, {300'000}};  // lies inside one kernel
  device.busy = {100'000};
  device.idle = {0};
  device.streams[0].by_kind = {DurationNs{100'000}, {}, {}, {}};
  device.streams[0].categories = {{"gemm.dense", 0, {100'000}}};
  const Table table = WindowTable(TotalsOf(trace.devices), "WINDOW");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].cells[0], Cell("gemm.dense"));
  EXPECT_EQ(table.rows[0].cells[3], Cell(1.0));
  EXPECT_EQ(table.rows[1].cells[0], Cell("idle"));
}

TEST(WindowTable, ACategoryOfKernelsMayBeCalledCopy) {
  TraceAnalysis trace = GpuTraceForTest();
  StreamTime& stream = trace.devices[0].streams[0];
  stream.categories.insert(stream.categories.begin(), {"copy", 7, {70'000}});
  const DeviceTotals totals = TotalsOf(trace.devices);
  EXPECT_EQ(totals.copies.total, DurationNs{50'000});
  EXPECT_EQ(totals.kernels.back().category, "copy");
  EXPECT_EQ(totals.kernels.back().total, DurationNs{70'000});
}

}  // namespace
}  // namespace tacho
