#include "report/table_pick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/analyze_text.h"
#include "report/results_for_test.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Table Kernels() {
  Table table{"kernels",
              {TableColumn{"name", "KERNELS"}, TableColumn{"category", "category"},
               TableColumn{"total_ns", "total", Unit::kDuration},
               TableColumn{"share", "share", Unit::kShare}, TableColumn{"", "", Unit::kBar},
               TableColumn{"bytes", "bytes", Unit::kBytes}},
              {}};
  table.Add({"a_GEMM", "gemm.dense", int64_t{2'000}, 0.5, 0.5, Cell()});
  table.Add({"norm", "norm", int64_t{30'000}, 0.4, 0.4, int64_t{2'000'000}});
  table.Add({"b_gemm", "gemm.dense", int64_t{500}, 0.1, 0.1, int64_t{10}});
  return table;
}

std::vector<std::string> NamesOf(const Table& table) {
  std::vector<std::string> names;
  for (const TableRow& row : table.rows) names.push_back(std::get<std::string>(row.cells[0]));
  return names;
}

std::vector<std::string> Picked(const std::optional<std::string>& sort,
                                const std::optional<std::string>& filter) {
  Table table = Kernels();
  const auto pick = ParseTablePick(sort, filter, {table});
  if (!pick) return {pick.error().message};
  const auto rows = PickRows(table, *pick);
  EXPECT_EQ(rows.has_value(), filter.has_value());
  if (rows) {
    EXPECT_EQ(rows->shown, table.rows.size());
    EXPECT_EQ(rows->of, 3u);
  }
  return NamesOf(table);
}

TEST(PickRows, SortsByAColumnsOwnSenseOrAsAsked) {
  EXPECT_THAT(Picked({}, {}), ElementsAre("a_GEMM", "norm", "b_gemm"));
  EXPECT_THAT(Picked("total_ns", {}), ElementsAre("norm", "a_GEMM", "b_gemm"));
  EXPECT_THAT(Picked("total_ns:asc", {}), ElementsAre("b_gemm", "a_GEMM", "norm"));
  EXPECT_THAT(Picked("name", {}), ElementsAre("a_GEMM", "b_gemm", "norm"));
  EXPECT_THAT(Picked("name:desc", {}), ElementsAre("norm", "b_gemm", "a_GEMM"));
  // Equal ones stay in order, and what has no value is last either way.
  EXPECT_THAT(Picked("category", {}), ElementsAre("a_GEMM", "b_gemm", "norm"));
  EXPECT_THAT(Picked("bytes", {}), ElementsAre("norm", "b_gemm", "a_GEMM"));
  EXPECT_THAT(Picked("bytes:asc", {}), ElementsAre("b_gemm", "norm", "a_GEMM"));
}

TEST(PickRows, FiltersByTextAndByValue) {
  EXPECT_THAT(Picked({}, "gemm"), ElementsAre("a_GEMM", "b_gemm"));
  EXPECT_THAT(Picked({}, "A_g"), ElementsAre("a_GEMM"));
  EXPECT_THAT(Picked({}, "nothing"), ElementsAre());
  EXPECT_THAT(Picked({}, "gemm<128"), ElementsAre());
  EXPECT_THAT(Picked({}, "total_ns>=2us"), ElementsAre("a_GEMM", "norm"));
  EXPECT_THAT(Picked({}, "total_ns > 2000"), ElementsAre("norm"));
  EXPECT_THAT(Picked({}, "total_ns!=500"), ElementsAre("a_GEMM", "norm"));
  EXPECT_THAT(Picked({}, "share<=40%"), ElementsAre("norm", "b_gemm"));
  EXPECT_THAT(Picked({}, "share<0.2"), ElementsAre("b_gemm"));
  EXPECT_THAT(Picked({}, "category=norm"), ElementsAre("norm"));
  EXPECT_THAT(Picked({}, "category!=norm"), ElementsAre("a_GEMM", "b_gemm"));
  EXPECT_THAT(Picked({}, "bytes<1MB"), ElementsAre("b_gemm"));  // none is not few
  EXPECT_THAT(Picked("total_ns:asc", "gemm"), ElementsAre("b_gemm", "a_GEMM"));
}

TEST(PickRows, RefusesWhatItCannotTell) {
  const auto message = [](const std::optional<std::string>& sort,
                          const std::optional<std::string>& filter) {
    const auto pick = ParseTablePick(sort, filter, {Kernels()});
    EXPECT_FALSE(pick) << sort.value_or("") << filter.value_or("");
    return pick ? "" : pick.error().message;
  };
  EXPECT_EQ(message("totl_ns", {}),
            "--sort: no column 'totl_ns' here, did you mean 'total_ns'?; the columns are: name, "
            "category, total_ns, share, bytes");
  EXPECT_THAT(message("x\x1b[31m", {}), HasSubstr("no column 'x\\x1b[31m' here; the columns"));
  EXPECT_THAT(message("total_ns:up", {}), HasSubstr("'up' is no direction"));
  EXPECT_THAT(message("", {}), HasSubstr("no column ''"));
  EXPECT_THAT(message({}, ""), HasSubstr("wants a text"));
  EXPECT_THAT(message({}, "totl_ns>3"), HasSubstr("did you mean 'total_ns'"));
  EXPECT_THAT(message({}, "total_ns>3x"), HasSubstr("write 10us"));
  EXPECT_THAT(message({}, "total_ns>"), HasSubstr("'' is no value"));
  EXPECT_THAT(message({}, "total_ns>inf"), HasSubstr("is no value"));
  EXPECT_THAT(message({}, "share>5us"), HasSubstr("write 5%"));
  EXPECT_THAT(message({}, "category>a"), HasSubstr("holds texts"));
}

TEST(PickRows, ATableWithoutTheColumnStaysAsItIs) {
  Table other{"other", {TableColumn{"depth", "depth", Unit::kCount}}, {}};
  other.Add({int64_t{1}});
  other.Add({int64_t{2}});
  const auto pick = ParseTablePick("total_ns", "total_ns>1", {Kernels(), other});
  ASSERT_TRUE(pick);
  EXPECT_FALSE(PickRows(other, *pick));
  EXPECT_EQ(other.rows.size(), 2u);
}

// Each flag's tables can be sorted by each of their columns, in text and in Markdown.
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
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  ScreenOptions options;
  options.pick.text = "gemm";
  const std::string text = WholeTablesText(run, {WholeTable::kKernels}, options);
  EXPECT_THAT(text, HasSubstr("66.7"));  // the share is that of all kernels
  EXPECT_THAT(text, HasSubstr("\n 1 of 2 rows shown\n"));
  EXPECT_THAT(WholeTablesMarkdown(run, {WholeTable::kKernels}, options),
              HasSubstr("\n\n1 of 2 rows shown\n"));
  options.pick.text = "nothing like it";
  EXPECT_THAT(WholeTablesText(run, {WholeTable::kKernels}, options),
              HasSubstr(" 0 of 2 rows shown\n"));
}

TEST(WholeTables, InMarkdownAreFoldedUntilTheyFit) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
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
