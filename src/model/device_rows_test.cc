#include "model/device_rows.h"

#include <gtest/gtest.h>

#include <utility>

#include "model/trace_builder.h"

namespace tacho {
namespace {

TEST(RowsOfTrack, KnowsTheProcessesOfProducers) {
  EXPECT_EQ(RowsOfTrack("Ascend Hardware", "NPU", "Stream 2"), TrackRows::kWork);
  EXPECT_EQ(RowsOfTrack("CANN", "CPU", ""), TrackRows::kCalls);
  EXPECT_EQ(RowsOfTrack("Overlap Analysis", "NPU", "Computing"), TrackRows::kDerived);
  EXPECT_EQ(RowsOfTrack("DEVICE<0x0bd5>", "", "L0"), TrackRows::kWork);
  EXPECT_EQ(RowsOfTrack("/device:GPU:0 NVIDIA H100", "", "Stream #13(Compute)"), TrackRows::kWork);
  EXPECT_EQ(RowsOfTrack("/device:GPU:0 NVIDIA H100", "", "XLA Modules"), TrackRows::kDerived);
}

TEST(RowsOfTrack, ADeviceThatNobodyKnowsIsNotRead) {
  for (const char* name : {"NPU", "GPU 3", "/device:TPU:0", "HPU device 0", "GCU0", "Device 1"}) {
    EXPECT_EQ(RowsOfTrack(name, "", ""), TrackRows::kUnread) << name;
    EXPECT_EQ(RowsOfTrack("python", name, ""), TrackRows::kUnread) << name;
  }
  for (const char* name : {"python", "GPU Process", "CPU", "", "MainProcess", "gpuworker", "17",
                           "VLLM::Worker", "/host:CPU"}) {
    EXPECT_EQ(RowsOfTrack(name, "", ""), TrackRows::kUnknown) << name;
  }
}

TEST(KindOfDeviceRow, IsToldByTheTypeElseByTheName) {
  EXPECT_EQ(KindOfDeviceRow("AI_CORE", "aclnnMm_MatMulV2"), SliceKind::kKernel);
  EXPECT_EQ(KindOfDeviceRow("NEW_CORE", "EVENT_WAITER"), SliceKind::kKernel);
  EXPECT_EQ(KindOfDeviceRow("EVENT_WAIT_SQE", "x"), SliceKind::kOther);
  EXPECT_EQ(KindOfDeviceRow("Notify Wait", "x"), SliceKind::kOther);
  EXPECT_EQ(KindOfDeviceRow("MEMCPY_ASYNC", "x"), SliceKind::kMemcpy);
  EXPECT_EQ(KindOfDeviceRow("SDMA_SQE", "x"), SliceKind::kMemcpy);
  EXPECT_EQ(KindOfDeviceRow("", "EVENT_WAIT"), SliceKind::kOther);
  EXPECT_EQ(KindOfDeviceRow("", "gemm_kernel[SIMD32 {1; 1; 1}]"), SliceKind::kKernel);
  EXPECT_EQ(KindOfDeviceRow("", "zeCommandListAppendMemoryCopy(M2D)[64 bytes]"),
            SliceKind::kMemcpy);
  EXPECT_EQ(KindOfDeviceRow("", "zeCommandListAppendMemoryFill[1]"), SliceKind::kMemset);
  EXPECT_EQ(KindOfDeviceRow("", "zeCommandListAppendBarrier"), SliceKind::kOther);
  EXPECT_EQ(KindOfDeviceRow("", "MemcpyH2D"), SliceKind::kMemcpy);
}

TEST(DeviceRows, GoToTheirTablesWhereverTheProcessIsNamed) {
  for (const bool named_first : {true, false}) {
    TraceBuilder b;
    const auto name = [&] {
      b.NameProcess("70", "Ascend Hardware");
      b.NameProcess("71", "CANN");
      b.NameProcess("72", "Overlap Analysis");
    };
    if (named_first) name();
    b.Host("cpu_op", "aten::mm", {.pid = "1", .start = 0, .duration = 5});
    b.Host("", "Node@launch", {.pid = "71", .start = 2, .duration = 2, .correlation = 8});
    b.Host("", "MatMulV2", {.pid = "70", .tid = "2", .start = 9, .duration = 4, .correlation = 8});
    b.Host("", "Computing", {.pid = "72", .tid = "2", .start = 9, .duration = 4});
    b.Host("", "EVENT_WAIT", {.pid = "70", .tid = "2", .start = 13, .duration = 40});
    if (!named_first) name();
    const Trace trace = std::move(b).Finish();
    ASSERT_EQ(trace.gpu.size(), 1u);
    EXPECT_EQ(trace.gpu.correlation[0], 8);
    EXPECT_EQ(trace.Text(trace.words[trace.gpu.stream[0]].device), "70");
    EXPECT_EQ(trace.Text(trace.words[trace.gpu.stream[0]].stream), "2");
    ASSERT_EQ(trace.host_calls.size(), 1u);
    EXPECT_EQ(trace.host_calls.correlation[0], 8);
    EXPECT_EQ(trace.host_ops.size(), 1u);
    ASSERT_EQ(trace.others.size(), 2u);
    EXPECT_EQ(trace.Text(trace.others.name[1]), "EVENT_WAIT");
    EXPECT_EQ(trace.notes.CountOf(NoteId::kDeviceRowsNotRead), 0u);
    EXPECT_EQ(trace.counts.total, 5u);
  }
}

TEST(DeviceRows, OfAnUnknownDeviceAreNoted) {
  TraceBuilder b;
  b.NameProcess("70", "NPU 0");
  b.Host("", "MatMul", {.pid = "70", .duration = 4});
  b.Host("", "MatMul", {.pid = "70", .start = 5, .duration = 4});
  b.Host("python_function", "run", {.pid = "70", .start = 5, .duration = 4});
  const Trace trace = std::move(b).Finish();
  ASSERT_EQ(trace.notes.list().size(), 1u);
  EXPECT_EQ(trace.notes.list()[0].id, NoteId::kDeviceRowsNotRead);
  EXPECT_EQ(trace.notes.list()[0].count, 2u);
  EXPECT_EQ(trace.notes.list()[0].where, "NPU 0");
  EXPECT_EQ(trace.others.size(), 2u);
}

}  // namespace
}  // namespace tacho
