#include "report/tables/whole_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/results_for_test.h"

namespace tacho {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(WholeTables, AllRowsAreThere) {
  RunAnalysis run = OneTrace();
  for (int i = 0; i < 500; ++i) {
    KernelRow row = run.traces[0].kernels.rows[0];
    row.name = "kernel_" + std::to_string(i);
    run.traces[0].kernels.rows.push_back(row);
  }
  const std::string text = WholeTablesText(run, {WholeTable::kKernels}, ScreenOptions{});
  EXPECT_THAT(text, HasSubstr("kernel_499 "));
  EXPECT_THAT(text, Not(HasSubstr("others]")));
}

TEST(WholeTables, HaveAsManyRowsAsAskedFor) {
  ScreenOptions options;
  options.table_top = 1;
  RunAnalysis run = OneTrace();
  run.traces[0].kernels.rows.push_back(run.traces[0].kernels.rows[1]);
  run.traces[0].kernels.rows[2].name = "third";
  const std::string text = WholeTablesText(run, {WholeTable::kKernels}, options);
  EXPECT_THAT(text, AllOf(HasSubstr("gemm<"), HasSubstr("[2 others]"), Not(HasSubstr("third"))));
}

TEST(WholeTables, GapsOfAMicrosecondAreCounted) {
  RunAnalysis run = OneTrace();
  TraceAnalysis& trace = run.traces[0];
  trace.idle.gaps.push_back({"0", {{0}, {1'000}}, "short_gap", "b", IdleCause::kQueued, "", ""});
  trace.devices[0].gaps.count = 1'236;  // two of them longer
  const std::string text = WholeTablesText(run, {WholeTable::kGaps}, ScreenOptions{});
  EXPECT_THAT(text, HasSubstr("\n 1,234 gaps of 1 us or less not listed\n"));
  EXPECT_THAT(text, Not(HasSubstr("short_gap")));
  EXPECT_THAT(text, HasSubstr(" host-late       the host had not yet launched the next work"));
}

TEST(WholeTables, SayWhenThereIsNothing) {
  RunAnalysis run;
  run.traces.emplace_back();
  EXPECT_EQ(WholeTablesText(run, {WholeTable::kSteps}, ScreenOptions{}),
            " no step annotation in this trace\n");
  EXPECT_THAT(WholeTablesText(run, {WholeTable::kRanks}, ScreenOptions{}),
              HasSubstr("no ranks to compare"));
}

TEST(WholeTables, SayThatAPartHasNothing) {
  RunAnalysis run;
  run.traces.emplace_back().scope.window = {{0}, {1}};
  EXPECT_EQ(WholeTablesText(run, {WholeTable::kSteps}, ScreenOptions{}),
            " no step annotation in this part of the trace\n");
}

TEST(WholeTables, Launches) {
  EXPECT_EQ(WholeTablesText(OneTrace(), {WholeTable::kLaunches}, ScreenOptions{}),
            R"( LAUNCHES                                         us
 GPU work with a known launch                3
   linked to a launch                        2
   without a launch in the recording         1
 pieces that do not tell it                  0
 graph launches                              0
   GPU work under them                       0
 most GPU work under one launch              1
 kernels shorter than their own launch call  0
 delays from launch call to start            2
   median                                       4.00
   p90                                          10.0
   p99                                          10.0
   longest                                      10.0

 HOST CALLS        total us  count  median ns  p99 ns  max ns
 cudaLaunchKernel      12.0      2      5,000   7,000   7,000

 QUEUES  device  mean depth  max depth
 7       0            0.750          2
)");
}

// The tables of each flag can be sorted by each of their columns, in text and in Markdown.
TEST(WholeTables, AreSortedAndFilteredByAnyOfTheirColumns) {
  const RunAnalysis run = TwoRanksForTest();
  for (const WholeTable which : {WholeTable::kKernels, WholeTable::kCategories, WholeTable::kOps,
                                 WholeTable::kLaunches, WholeTable::kCopies, WholeTable::kGaps,
                                 WholeTable::kRanks, WholeTable::kSteps, WholeTable::kDevices}) {
    const std::vector<Table> tables = EmptyTables({which});
    size_t keys = 0;
    for (const Table& table : tables) {
      for (const TableColumn& column : table.columns) {
        if (column.key.empty()) continue;
        ++keys;
        ScreenOptions options;
        const auto pick = ParseTablePick(column.key, {}, tables);
        ASSERT_TRUE(pick) << column.key;
        options.pick = *pick;
        EXPECT_FALSE(WholeTablesText(run, {which}, options).empty());
        EXPECT_FALSE(WholeTablesMarkdown(run, {which}, options).empty());
      }
    }
    EXPECT_GT(keys, 2u);
  }
}

TEST(WholeTables, SayHowManyRowsTheFilterLeft) {
  const RunAnalysis run = OneTrace();
  ScreenOptions options;
  options.pick.text = "gemm";
  const std::string text = WholeTablesText(run, {WholeTable::kKernels}, options);
  EXPECT_THAT(text, HasSubstr("66.7"));  // the share of all kernels
  EXPECT_THAT(text, HasSubstr("\n 1 of 2 rows shown\n"));
  EXPECT_THAT(WholeTablesMarkdown(run, {WholeTable::kKernels}, options),
              HasSubstr("\n\n1 of 2 rows shown\n"));
  options.pick.text = "nothing like it";
  EXPECT_THAT(WholeTablesText(run, {WholeTable::kKernels}, options),
              HasSubstr(" 0 of 2 rows shown\n"));
}

TEST(WholeTables, InMarkdownAreFoldedUntilTheyFit) {
  RunAnalysis run = OneTrace();
  for (int i = 0; i < 3'000; ++i) {
    KernelRow row = run.traces[0].kernels.rows[0];
    row.name = "kernel" + std::to_string(i);
    run.traces[0].kernels.rows.push_back(row);
  }
  const std::string text = WholeTablesMarkdown(run, {WholeTable::kKernels}, {});
  EXPECT_LT(text.size(), 60'000u);
  EXPECT_THAT(text, HasSubstr("others]"));
}

}  // namespace
}  // namespace tacho
