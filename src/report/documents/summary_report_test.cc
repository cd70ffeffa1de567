#include "report/documents/summary_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace tacho {
namespace {

RunSummary SmallRun() {
  TraceSummary trace;
  trace.path = "rank0.json";
  trace.bytes = 100;
  trace.json_bytes = 100;
  trace.rank = 0;
  trace.span = {{10}, {1'000'010}};
  trace.events = 5;
  trace.by_phase = {{"X", 5}};
  trace.by_category = {{"cpu_op", 2}, {"kernel", 3}};
  trace.devices.push_back({"0", 3, {600'000}, {{10}, {900'010}}});
  trace.gpu_work.push_back({"gemm", 2, {500'000}, {200'000}, {300'000}});
  trace.gpu_work.push_back({"Memcpy HtoD", 1, {100'000}, {100'000}, {100'000}});
  trace.host_ops.push_back({"aten::mm", 2, {50'000}, {20'000}, {30'000}});
  RunSummary run;
  run.traces.push_back(trace);
  return run;
}

TEST(SummaryReport, Text) {
  EXPECT_EQ(SummaryText(SmallRun(), {}), R"( trace    rank0.json
          rank 0 · 5 events · 100 B (100 B of JSON) · 1.00 ms from first to last event
 summary  totals only, in one pass: sums count overlap twice, missing work is not looked for

 DEVICES  events  window us  sum of work us
 0             3        900             600

 EVENTS BY CATEGORY  count
 kernel                  3
 cpu_op                  2

 GPU WORK     total us     %  count  min us  max us
 gemm              500  83.3      2     200     300
 Memcpy HtoD       100  16.7      1     100     100

 HOST OPERATORS (total)  total us      %  count  min us  max us
 aten::mm                    50.0  100.0      2    20.0    30.0
)");
}

TEST(SummaryReport, JsonIsAPartOfTheContract) {
  const auto json = nlohmann::json::parse(SummaryJson(SmallRun(), "1.2.3", {}));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["summary"], true);
  const auto& trace = json["traces"][0];
  EXPECT_EQ(trace["rank"], 0);
  EXPECT_FALSE(trace.contains("world_size"));
  EXPECT_EQ(trace["events"]["by_category"]["kernel"], 3);
  EXPECT_EQ(trace["devices"][0]["window_ns"], 900'000);
  EXPECT_EQ(trace["gpu_work"][0]["total_ns"], 500'000);
  EXPECT_EQ(trace["ops"][0]["cpu_total_ns"], 50'000);
}

TEST(Summarized, SortsByTotalAndDevicesByNumber) {
  SummarySink sink;
  Vocabulary& words = sink.vocabulary();
  const auto gpu = [&](const char* device, const char* name, int64_t duration) {
    Event event;
    event.kind = SliceKind::kKernel;
    event.has_start = true;
    event.name = words.strings.Intern(name);
    event.stream = words.InternStream(words.strings.Intern(device), words.strings.Intern("7"));
    event.duration = {duration};
    sink.OnEvent(event);
  };
  gpu("10", "short", 5);
  gpu("2", "long", 7);
  const TraceSummary summary = Summarized(sink);
  ASSERT_EQ(summary.devices.size(), 2u);
  EXPECT_EQ(summary.devices[0].device, "2");
  EXPECT_EQ(summary.gpu_work[0].name, "long");
  EXPECT_EQ(summary.events, 2u);
}

}  // namespace
}  // namespace tacho
