#include "report/documents/analyze_csv.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/results_for_test.h"

namespace tacho {
namespace {

std::string FileOf(const RunAnalysis& run, std::string_view name) {
  for (const auto& [file, content] : AnalyzeCsv(run)) {
    if (file == name) return content;
  }
  return "no such file";
}

TEST(AnalyzeCsv, WholeNanosecondsWithTheTraceInFront) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  EXPECT_EQ(FileOf(run, "idle.csv"),
            "trace,rank,cause,total_ns,share,gaps\n"
            "run/rank0.pt.trace.json.gz,0,host-late,300000,0.750000,1\n"
            "run/rank0.pt.trace.json.gz,0,unknown,100000,0.250000,1\n");
  EXPECT_EQ(FileOf(run, "copies.csv"),
            "trace,rank,kind,total_ns,count,bytes,gigabytes_per_second,pageable\n"
            "run/rank0.pt.trace.json.gz,0,HtoD,50000,1,1000000,20.000000,1\n");
}

TEST(AnalyzeCsv, QuotesNames) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  EXPECT_NE(
      FileOf(run, "kernels.csv")
          .find("\"void gemm<128, \"\"x\"\">(int)\",\"gemm<128, \"\"x\"\">\",gemm.dense,0,400000,"),
      std::string::npos);
}

TEST(AnalyzeCsv, TheSameFilesAlwaysEachWithOneHeading) {
  const auto full = AnalyzeCsv(TwoRanksForTest());
  const auto empty = AnalyzeCsv(RunAnalysis{});
  ASSERT_EQ(full.size(), empty.size());
  for (size_t i = 0; i < full.size(); ++i) {
    EXPECT_EQ(full[i].first, empty[i].first);
    const std::string& heading = empty[i].second;
    EXPECT_EQ(std::count(heading.begin(), heading.end(), '\n'), 1) << empty[i].first;
    EXPECT_TRUE(full[i].second.starts_with(heading)) << full[i].first;
    EXPECT_EQ(heading.find(",,"), std::string::npos) << "a column without a name: " << heading;
  }
}

}  // namespace
}  // namespace tacho
