// Traces of other producers than Kineto, and of its plugins, as TraceBuilder keeps them.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ingest/kineto_json/event_parser.h"
#include "ingest/kineto_json/kineto_reader.h"
#include "ingest/kineto_json/read_back_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

Trace TraceOf(const std::string& events) {
  TraceBuilder builder;
  const std::string json = "{\"traceEvents\": [" + events + "]}";
  const auto stream = StreamOfMemory(json);
  EXPECT_TRUE(ReadKinetoJson(*stream, builder));
  return std::move(builder).Finish();
}

TEST(Producers, TorchNpuNamesItsDeviceBehindItsRows) {
  std::string events;
  for (int i = 0; i < 100; ++i) {
    const std::string id = std::to_string(i), at = std::to_string(1000 + 100 * i);
    events += R"({"ph": "X", "name": "Node@launch", "pid": 32, "tid": 9, "ts": ")" + at +
              R"(.120", "dur": 5, "args": {"connection_id": )" + id + "}},";
    events +=
        R"({"ph": "X", "name": "MatMulV2", "pid": 31, "tid": 2, "ts": ")" + at +
        R"(.520", "dur": 20, "args": {"Task Type": "AI_CORE", "Stream Id": 2, "connection_id": )" +
        id + "}},";
    events += R"({"ph": "X", "name": "task)" + id + R"(", "pid": 31, "tid": 2, "ts": ")" + at +
              R"(.820", "dur": 60, "args": {"Task Type": "EVENT_WAIT", "connection_id": )" + id +
              "}},";
  }
  const Trace trace = TraceOf(
      events +
      R"({"ph": "M", "name": "process_name", "pid": 31, "tid": 0, "args": {"name": "Ascend Hardware"}},
         {"ph": "M", "name": "process_labels", "pid": 31, "tid": 0, "args": {"labels": "NPU"}},
         {"ph": "M", "name": "process_name", "pid": 32, "tid": 0, "args": {"name": "CANN"}})");
  ASSERT_EQ(trace.gpu.size(), 100u);
  EXPECT_EQ(trace.gpu.correlation[99], 99);
  EXPECT_EQ(trace.gpu.kind[99], SliceKind::kKernel);
  ASSERT_EQ(trace.host_calls.size(), 100u);
  EXPECT_EQ(trace.host_calls.correlation[99], 99);
  EXPECT_EQ(trace.others.size(), 100u);
  EXPECT_EQ(ArgsText(trace, GpuArgs(trace, 99)),
            R"({"Task Type": "AI_CORE", "Stream Id": 2, "connection_id": 99})");
}

TEST(RankOfPid, IsWhatScriptsThatMergePutInFront) {
  EXPECT_EQ(kineto::RankOfPid("[TP00-DP01] 1234"), "[TP00-DP01] ");
  EXPECT_EQ(kineto::RankOfPid("rank0.pt.trace.json.gz:1234"), "rank0.pt.trace.json.gz:");
  EXPECT_EQ(kineto::RankOfPid("rank0.json 0"), "rank0.json ");
  EXPECT_EQ(kineto::RankOfPid("rank0_1234"), "rank0_");
  EXPECT_EQ(kineto::RankOfPid("rank 12: 0"), "rank 12:");
  EXPECT_EQ(kineto::RankOfPid("run_rank_3-Spans"), "run_rank_3-");
  for (const char* plain : {"1234", "-1", "", "Spans", "Traces", "GPU 0 Counters", "rank", "rank0",
                            "rank0_", "ranks 3", "t.json", "0: rank0"}) {
    EXPECT_EQ(kineto::RankOfPid(plain), "") << plain;
  }
}

TEST(Producers, RowsThatNameADeviceAndAStreamAreADevices) {
  const Trace trace = TraceOf(
      R"({"ph": "X", "cat": "acme_memcpy", "name": "copy", "pid": 0, "tid": 3, "ts": 1, "dur": 2,
          "args": {"device": 0, "stream": 3}},
         {"ph": "X", "cat": "acme_memcpy", "name": "copy", "pid": 0, "tid": 3, "ts": 1, "dur": 2,
          "args": {"stream": "stdout"}})");
  ASSERT_EQ(trace.notes.list().size(), 1u);
  EXPECT_EQ(trace.notes.list()[0].id, NoteId::kDeviceRowsNotRead);
  EXPECT_EQ(trace.notes.list()[0].count, 1u);
  EXPECT_EQ(trace.notes.list()[0].where, "acme_memcpy");
}

TEST(Producers, UnitraceNamesCommandsAmongItsKernels) {
  const Trace trace = TraceOf(
      R"({"ph": "M", "name": "process_name", "pid": 42, "ts": 0, "args": {"name": "DEVICE<0x0bd5>"}},
         {"ph": "X", "tid": 1, "pid": 42, "name": "gemm[SIMD32 {1; 1; 1}]", "cat": "gpu_op", "ts": 5, "dur": 3, "args": {"id": "0"}},
         {"ph": "X", "tid": 1, "pid": 42, "name": "zeCommandListAppendMemoryCopy(M2D)[8 bytes]", "cat": "gpu_op", "ts": 9, "dur": 3, "args": {"id": "1"}},
         {"ph": "X", "tid": 1, "pid": 42, "name": "zeCommandListAppendBarrier", "cat": "gpu_op", "ts": 12, "dur": 30, "args": {"id": "2"}})");
  ASSERT_EQ(trace.gpu.size(), 2u);
  EXPECT_EQ(trace.gpu.kind[0], SliceKind::kKernel);
  EXPECT_EQ(trace.gpu.kind[1], SliceKind::kMemcpy);
  EXPECT_EQ(trace.others.size(), 1u);
}

}  // namespace
}  // namespace tacho
