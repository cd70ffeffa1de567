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

// torch 2.15's Python exporter with graph_lanes="all".
TEST(Producers, TorchKeepsTheStreamOfWorkThatItDrawsOnALane) {
  std::string events;
  for (int i = 0; i < 100; ++i) {  // more streams than values that an argument has without a slot
    const std::string stream = std::to_string(20 + i);
    events += R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": )" +
              std::to_string(10 * i) + R"(, "dur": 5, "args": {"original_stream": )" + stream +
              R"(, "device": 0, "stream": 7, "correlation": 1, "name": "layers.0.qkv"}},)";
  }
  const Trace trace = TraceOf(
      events +
      R"({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 5000, "dur": 5,
          "args": {"device": 0, "stream": 7, "original_stream": null}},
         {"ph": "M", "name": "thread_name", "pid": 0, "tid": 7, "args": {"name": "stream 7 "}})");
  ASSERT_EQ(trace.gpu.size(), 101u);
  for (size_t row = 0; row < trace.gpu.size(); ++row) {
    const Stream& stream = trace.words[trace.gpu.stream[row]];
    EXPECT_EQ(trace.Text(stream.stream), row == 100 ? "7" : std::to_string(20 + row));
    EXPECT_EQ(trace.Text(stream.device), "0");
    EXPECT_EQ(trace.Text(trace.words[trace.gpu.track[row]].name), "stream 7 ");
  }
}

TEST(Producers, CuspySaysInArgumentsWhichCopyItIs) {
  const auto copy = [](int at, const std::string& name, const std::string& args) {
    return R"({"ph": "X", "cat": "gpu_memcpy", "name": ")" + name +
           R"(", "pid": 0, "tid": 7, "ts": )" + std::to_string(at) + R"(, "dur": 1, "args": {)" +
           args + "}},";
  };
  const std::string down = R"("copy kind": "DtoH", "src kind": "device", "dst kind": "pageable")";
  std::string events;
  for (int i = 0; i < 5; ++i) events += copy(i, "Memcpy", down);
  events +=
      copy(10, "mine", down) + copy(11, "Memcpy", down) +
      copy(12, "Memcpy", R"("copy kind": "DtoD")") + copy(13, "Memcpy", R"("bytes": 5)") +
      copy(14, "Memcpy", R"("copy kind": 2, "src kind": "device")") +
      copy(15, "Memcpy", R"("copy kind": "HtoD", "src kind": "device_static", "dst kind": "x")");
  const Trace trace = TraceOf(
      events + R"({"ph": "X", "cat": "graph_host_node", "name": "HostNode", "pid": 0, "tid": 7,
                   "ts": 20, "dur": 1, "args": {"correlation": 0, "device": 0, "stream": 7}})");
  ASSERT_EQ(trace.gpu.size(), 11u);
  const auto name = [&](size_t row) { return trace.Text(trace.gpu.name[row]); };
  for (const size_t row : {0u, 4u, 6u}) EXPECT_EQ(name(row), "Memcpy DtoH (Device -> Pageable)");
  EXPECT_EQ(name(5), "mine");
  EXPECT_EQ(name(7), "Memcpy DtoD");
  EXPECT_EQ(name(8), "Memcpy");
  EXPECT_EQ(name(9), "Memcpy");
  EXPECT_EQ(name(10), "Memcpy HtoD (Device Static -> X)");
  EXPECT_EQ(trace.others.size(), 1u);
  EXPECT_TRUE(trace.notes.list().empty());
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
