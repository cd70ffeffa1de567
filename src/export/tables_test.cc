// The exports that are made from the tables of queries: SQLite and CSV.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/folder_for_test.h"
#include "base/utf8.h"
#include "export/export_window.h"
#include "export/gpu_csv.h"
#include "export/sqlite_file.h"
#include "export/text_sink_for_test.h"
#include "query/query_for_test.h"
#include "query/query_table.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const char* const kHostileNames[] = {"a,b",           "say \"x\"", "two\nlines",    "semi;colon",
                                     "bad \xff byte", "",          "tab\tand \x01", "caf\xc3\xa9"};

// All kinds of slices, launches and steps, with names that no table likes.
Trace RandomTrace(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return static_cast<int64_t>(random() % n); };
  TraceBuilder builder;
  for (int64_t i = 0; i < 50; ++i) {
    const TraceBuilder::OnGpu at{.stream = below(2) == 0 ? "7" : "8",
                                 .start = below(800),
                                 .duration = below(30),
                                 .correlation = below(60),
                                 .args = {{"grid", "[1, 2,3]"}, {"bytes", "64"}}};
    below(4) == 0 ? builder.Memset("Memset", at) : builder.Kernel(kHostileNames[below(8)], at);
  }
  for (int64_t i = 0; i < 30; ++i) {
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = below(800), .duration = below(20), .correlation = i});
    builder.Host("cpu_op", kHostileNames[below(8)], {.start = below(800), .duration = below(90)});
  }
  for (int64_t at = 0; at < 800; at += 200)
    builder.Host("user_annotation", "execute_context_0(0)_generation_1(3)",
                 {.start = at, .duration = 150});
  builder.header().rank = seed;
  return std::move(builder).Finish();
}

std::unique_ptr<QueriedRun> TwoTraces(uint32_t seed) {
  std::vector<Trace> traces;
  traces.push_back(RandomTrace(seed));
  traces.push_back(RandomTrace(seed + 1));
  return RunOfTraces(std::move(traces));
}

// Every row of every table is the same in the file, apart from bytes that are not UTF-8.
TEST(SqliteFile, HoldsTheTablesOfQueries) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const FolderForTest folder;
    const auto run = TwoTraces(seed);
    const std::vector<Interval> windows(2, kAllTime);
    const std::string path = folder.At("run.db");
    ASSERT_TRUE(WriteSqliteFile(*run, windows, path, [] { return false; }));
    auto file = SqliteDatabase::OpenFile(path);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_THAT(RowsOf(*file, "PRAGMA integrity_check"), ElementsAre("ok"));
    auto session = QuerySession::Open(*run);
    ASSERT_TRUE(session);
    for (const QueryTable& table : QueryTables()) {
      std::string columns;
      for (const QueryColumn& column : table.columns)
        columns += (columns.empty() ? "\"" : ", \"") + std::string(column.name) + "\"";
      // Sort the rows as written: only an order by all columns is the same in both.
      const std::string sql = "SELECT " + columns + " FROM " + std::string(table.name);
      auto there = RowsOf(*file, sql), here = RowsOf(session->database(), sql);
      for (std::string& row : here) row = ValidUtf8(row);
      std::ranges::sort(there);
      std::ranges::sort(here);
      EXPECT_EQ(there, here) << table.name;
    }
  }
}

TEST(SqliteFile, AWindowHasWhatTouchesIt) {
  const auto run = TwoTraces(2);
  const FolderForTest folder;
  const std::string path = folder.At("run.db");
  const std::vector<Interval> windows = {{{100}, {300}}, kNoTime};
  ASSERT_TRUE(WriteSqliteFile(*run, windows, path, [] { return false; }));
  auto file = *SqliteDatabase::OpenFile(path);
  auto session = *QuerySession::Open(*run);
  for (const std::string table : {"slices", "kernels", "launches", "operators", "steps", "gaps"}) {
    const std::string sql = "SELECT trace, start_ns, end_ns FROM " + table;
    auto there = RowsOf(file, sql);
    auto here = RowsOf(session.database(),
                       sql +
                           " WHERE trace = 0 AND start_ns < 300 AND (end_ns > 100 OR (end_ns = "
                           "start_ns AND start_ns >= 100))");
    std::ranges::sort(there);
    std::ranges::sort(here);
    EXPECT_EQ(there, here) << table;
    EXPECT_FALSE(there.empty()) << table;
  }
  EXPECT_THAT(RowsOf(file, "SELECT count(*) FROM ranks"), ElementsAre("2"));
}

TEST(SqliteFile, SaysWhyItIsNotWritten) {
  const auto run = TwoTraces(1);
  const std::vector<Interval> windows(2, kAllTime);
  const auto full = WriteSqliteFile(*run, windows, "/dev/full", [] { return false; });
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().kind, ErrorKind::kOutput);
  const FolderForTest folder;
  const auto none =
      WriteSqliteFile(*run, windows, folder.At("no/such/folder.db"), [] { return false; });
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kOutput);
}

TEST(GpuCsv, ALineForEachPieceInOrder) {
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const auto run = TwoTraces(seed);
    TextSink text;
    ASSERT_TRUE(WriteGpuCsv(*run, std::vector<Interval>(2, kAllTime), text));
    EXPECT_TRUE(IsUtf8(text.text));
    const auto records = CsvRecords(text.text);
    ASSERT_EQ(records.size(),
              1 + run->traces[0]->trace().gpu.size() + run->traces[1]->trace().gpu.size());
    std::vector<int64_t> starts;
    for (size_t i = 1; i < records.size(); ++i) {
      ASSERT_EQ(records[i].size(), records[0].size());
      if (records[i][0] == "trace 0") starts.push_back(std::stoll(records[i][8]));
    }
    EXPECT_TRUE(std::ranges::is_sorted(starts));
  }
}

TEST(GpuCsv, SaysWhereAPieceCameFrom) {
  TraceBuilder builder;
  builder.Host("user_annotation", "execute_context_0(0)_generation_1(3)",
               {.start = 0, .duration = 90});
  builder.Host("cpu_op", "aten::mm", {.start = 10, .duration = 30});
  builder.Host("cuda_runtime", "cudaLaunchKernel", {.start = 15, .duration = 5, .correlation = 4});
  builder.Kernel("void ns::gemm<int>(int)",
                 {.start = 50,
                  .duration = 7,
                  .correlation = 4,
                  .args = {{"grid", "[1, 2, 3]"}, {"registers per thread", "32"}}});
  builder.Kernel("later", {.start = 500, .duration = 7});
  std::vector<Trace> traces;
  traces.push_back(std::move(builder).Finish());
  const auto run = RunOfTraces(std::move(traces));
  TextSink text;
  ASSERT_TRUE(WriteGpuCsv(*run, std::vector<Interval>{{{0}, {100}}}, text));
  EXPECT_THAT(text.text, StartsWith(std::string(kGpuCsvBegin)));
  EXPECT_THAT(
      text.text,
      HasSubstr("\ntrace 0,,0,7,kernel,void ns::gemm<int>(int),ns::gemm<int>,gemm.dense,50,7,57,4,"
                "cudaLaunchKernel,1,15,5,30,aten::mm,1,decode,\"[1,2,3]\",,32,,,\n"));
  EXPECT_THAT(text.text, Not(HasSubstr("later")));
  EXPECT_TRUE(HasGpuLines(*run->traces[0], {{0}, {100}}));
  EXPECT_FALSE(HasGpuLines(*run->traces[0], {{10}, {40}})) << "the operator is no GPU work";
}

TEST(GpuCsv, WithoutACommonClockALaunchHasNoDelay) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 20; ++i) {
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = 100 * i, .duration = 5, .correlation = i});
    builder.Kernel("k", {.start = 100 * i - 5'000, .duration = 10, .correlation = i});
  }
  std::vector<Trace> traces;
  traces.push_back(std::move(builder).Finish());
  TextSink text;
  ASSERT_TRUE(WriteGpuCsv(*RunOfTraces(std::move(traces)), std::vector<Interval>{kAllTime}, text));
  EXPECT_THAT(text.text, HasSubstr("-4800,10,-4790,2,cudaLaunchKernel,1,200,5,,"));
}

TEST(GpuCsv, EndsWhereNothingCanBeWritten) {
  const auto run = TwoTraces(1);
  TextSink full;
  full.most = 10;
  EXPECT_FALSE(WriteGpuCsv(*run, std::vector<Interval>(2, kAllTime), full));
}

}  // namespace
}  // namespace tacho
