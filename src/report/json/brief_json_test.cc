#include "report/json/brief_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/json/analyze_json.h"
#include "report/results_for_test.h"
#include "report/words/verdict.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

TEST(BriefJson, IsWhatTheWholeAnalysisSays) {
  const RunAnalysis run = TwoRanksForTest();
  const Json brief = Json::parse(BriefJson(run)), whole = Json::parse(AnalyzeJson(run, "1"));
  EXPECT_EQ(brief["verdict"], whole["verdict"]);
  EXPECT_EQ(brief["verdict"]["text"], VerdictOf(run).text);
  const Json& analysis = brief["analysis"];
  EXPECT_EQ(analysis["ranks"], whole["ranks"]);
  for (const char* figure : {"window_ns", "busy_ns", "idle_ns", "compute_ns", "exposed_comm_ns"}) {
    int64_t sum = 0;
    for (const Json& trace : whole["traces"]) sum += trace["devices"][0][figure].get<int64_t>();
    EXPECT_EQ(analysis["device_time"][figure], sum) << figure;
  }
  int64_t idle = 0;
  for (const Json& cause : analysis["idle"]) idle += cause["total_ns"].get<int64_t>();
  EXPECT_EQ(idle, 700'000);
  EXPECT_EQ(analysis["kernels"][0]["name"], "void gemm<128, \"x\">(int)");
  EXPECT_EQ(analysis["kernels"][0]["total_ns"], 900'000);
  EXPECT_EQ(analysis["steps"]["name"], "rank 1");
  EXPECT_EQ(analysis["steps"]["phases"][0]["phase"], "prefill");
}

TEST(BriefJson, TheVerdictIsDataToo) {
  RunAnalysis run;
  run.traces.push_back(GpuTraceForTest());
  const Json verdict = Json::parse(BriefJson(run))["verdict"];
  EXPECT_EQ(verdict["text"], Verdict(run.traces[0]));
  EXPECT_FALSE(verdict.contains("caveat"));
  EXPECT_DOUBLE_EQ(verdict["busy_share"], 0.6);
  EXPECT_EQ(verdict["idle_cause"], "host-late");
  EXPECT_DOUBLE_EQ(verdict["idle_cause_share"], 0.75);
  EXPECT_EQ(verdict["category"], "gemm.dense");
  EXPECT_FALSE(verdict.contains("straggler"));
  const Json two = Json::parse(BriefJson(TwoRanksForTest()))["verdict"]["straggler"];
  EXPECT_EQ(two["name"], "rank 1");
  EXPECT_EQ(two["sign"], "computes-longest");
  EXPECT_EQ(two["ns"], 650'000);
}

// Thousands of kernels and gaps are only in the output of tacho analyze.
TEST(BriefJson, StaysSmall) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) {
    for (int i = 0; i < 5'000; ++i) {
      KernelRow row = trace.kernels.rows[0];
      row.name += std::to_string(i);
      trace.kernels.rows.push_back(row);
    }
  }
  const std::string text = BriefJson(run);
  EXPECT_EQ(Json::parse(text)["analysis"]["kernels"].size(), 20u);
  EXPECT_LT(text.size(), 20'000u);
}

}  // namespace
}  // namespace tacho
