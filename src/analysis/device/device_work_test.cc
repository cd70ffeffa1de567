#include "analysis/device/device_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using testing::ElementsAre;

std::vector<std::string> NamesOf(const Trace& trace, const DeviceItems& device) {
  std::vector<std::string> names;
  for (const WorkItem& item : device.items) names.emplace_back(trace.Text(item.name));
  return names;
}

std::vector<bool> Continued(const DeviceItems& device) {
  std::vector<bool> continued;
  for (const WorkItem& item : device.items) continued.push_back(item.continued);
  return continued;
}

TEST(DeviceWork, SortsDevicesStreamsAndItems) {
  TraceBuilder builder;
  builder.Kernel("late", {.device = "10", .stream = "7", .start = 50, .duration = 5});
  builder.Kernel("b", {.device = "2", .stream = "13", .start = 30, .duration = 9});
  builder.Kernel("longer", {.device = "2", .stream = "7", .start = 20, .duration = 9});
  builder.Kernel("shorter", {.device = "2", .stream = "7", .start = 20, .duration = 3});
  builder.Kernel("named", {.device = "gpu", .stream = "7", .start = 1, .duration = 3});
  const Trace trace = std::move(builder).Finish();
  const DeviceWork work = CollectDeviceWork(TrackIndex(trace), BuiltInRules());
  ASSERT_EQ(work.devices.size(), 3u);
  EXPECT_FALSE(work.on_host);
  EXPECT_EQ(work.devices[0].device, "2");
  EXPECT_EQ(work.devices[1].device, "10");
  EXPECT_EQ(work.devices[2].device, "gpu");
  EXPECT_THAT(work.devices[0].streams, ElementsAre("7", "13"));
  EXPECT_THAT(NamesOf(trace, work.devices[0]), ElementsAre("shorter", "longer", "b"));
  EXPECT_EQ(work.devices[0].items[2].stream, 1u);
  EXPECT_EQ(work.devices[0].items[2].row, 1u);
}

TEST(DeviceWork, KindsComeFromTheEventAndTheRules) {
  TraceBuilder builder;
  builder.Kernel("ampere_sgemm_32x32", {.start = 1});
  builder.Kernel("ncclDevKernel_AllReduce_Sum_f16_RING_LL", {.start = 2});
  builder.Memcpy("Memcpy HtoD (Pinned -> Device)", {.start = 3});
  builder.Memset("Memset (Device)", {.start = 4});
  const Trace trace = std::move(builder).Finish();
  const DeviceWork work = CollectDeviceWork(TrackIndex(trace), BuiltInRules());
  const std::vector<WorkItem>& items = work.devices[0].items;
  ASSERT_EQ(items.size(), 4u);
  EXPECT_EQ(items[0].kind, WorkKind::kCompute);
  EXPECT_EQ(BuiltInRules().categories()[items[0].category], "gemm.dense");
  EXPECT_EQ(items[1].kind, WorkKind::kCommunication);
  EXPECT_EQ(items[2].kind, WorkKind::kCopy);
  EXPECT_EQ(items[3].kind, WorkKind::kMemset);
}

TEST(DeviceWork, AWindowKeepsWhatTouchesIt) {
  TraceBuilder builder;
  builder.Kernel("before", {.start = 0, .duration = 10});
  builder.Kernel("into", {.start = 5, .duration = 6});
  builder.Kernel("empty at the start", {.start = 10});
  builder.Kernel("inside", {.start = 12, .duration = 2});
  builder.Kernel("empty at the end", {.start = 20});
  builder.Kernel("behind", {.device = "1", .start = 20, .duration = 4});
  const Trace trace = std::move(builder).Finish();
  const DeviceWork work = CollectDeviceWork(TrackIndex(trace), BuiltInRules(), WindowScope(10, 20));
  ASSERT_EQ(work.devices.size(), 2u) << "a device without work in the window is idle, not absent";
  EXPECT_THAT(NamesOf(trace, work.devices[0]), ElementsAre("into", "empty at the start", "inside"));
  EXPECT_THAT(work.devices[1].items, testing::IsEmpty());
  Scope one = WindowScope(10, 20);
  one.device = "1";
  EXPECT_EQ(CollectDeviceWork(TrackIndex(trace), BuiltInRules(), one).devices.size(), 1u);
  one.device = "7";
  EXPECT_EQ(CollectDeviceWork(TrackIndex(trace), BuiltInRules(), one).devices.size(), 0u);
}

TEST(DeviceWork, ACpuEngineWorksInTheOwnTimeOfItsOperators) {
  TraceBuilder builder;
  // linear > (t > transpose > as_strided), matmul > mm > resolve_conj: linear and matmul only call
  // other operators.
  builder.Host("cpu_op", "aten::linear", {.start = 0, .duration = 100});
  builder.Host("cpu_op", "aten::t", {.start = 5, .duration = 20});
  builder.Host("cpu_op", "aten::transpose", {.start = 6, .duration = 18});
  builder.Host("cpu_op", "aten::as_strided", {.start = 8, .duration = 10});
  builder.Host("cpu_op", "aten::matmul", {.start = 30, .duration = 60});
  builder.Host("cpu_op", "aten::mm", {.start = 32, .duration = 50});
  builder.Host("cpu_op", "aten::resolve_conj", {.start = 33, .duration = 1});
  builder.Host("cpu_op", "aten::silu", {.start = 110, .duration = 7});
  // Another thread's operators are not the executor's; neither are annotations.
  builder.Host("cpu_op", "aten::copy_", {.tid = "2", .start = 0, .duration = 30});
  builder.Host("user_annotation", "step[DECODE bs=1]", {.start = 0, .duration = 200});
  const Trace trace = std::move(builder).Finish();
  const DeviceWork work = CollectDeviceWork(TrackIndex(trace), BuiltInRules());
  EXPECT_TRUE(work.on_host);
  ASSERT_EQ(work.devices.size(), 1u);
  EXPECT_EQ(work.devices[0].device, "cpu");
  EXPECT_THAT(work.devices[0].streams, ElementsAre("1"));
  EXPECT_THAT(NamesOf(trace, work.devices[0]),
              ElementsAre("aten::t", "aten::transpose", "aten::as_strided", "aten::transpose",
                          "aten::t", "aten::mm", "aten::resolve_conj", "aten::mm", "aten::silu"));
  EXPECT_THAT(Continued(work.devices[0]),
              ElementsAre(false, false, false, true, true, false, false, true, false));
  EXPECT_EQ(work.TimeOf(work.devices[0].items[0]).ns, 2) << "of t: 1 before its transpose, 1 after";
  EXPECT_EQ(work.TimeOf(work.devices[0].items[5]).ns, 49);
  EXPECT_EQ(trace.Text(trace.words[work.devices[0].executor].tid), "1");
}

TEST(DeviceWork, CollectivesOfOtherThreadsAreCommunication) {
  TraceBuilder builder;
  builder.Host("cpu_op", "c10d::allreduce_", {.pid = "9", .tid = "9", .start = 0, .duration = 10});
  builder.Host("cpu_op", "aten::mm", {.pid = "9", .tid = "9", .start = 50, .duration = 10});
  builder.Host("user_annotation", "gloo:all_reduce",
               {.pid = "9", .tid = "11", .start = 8, .duration = 30});
  builder.Host("cpu_op", "aten::copy_", {.pid = "9", .tid = "11", .start = 9, .duration = 2});
  builder.Host("user_annotation", "gloo:all_reduce",
               {.pid = "8", .tid = "11", .start = 8, .duration = 3});
  const Trace trace = std::move(builder).Finish();
  const DeviceWork work = CollectDeviceWork(TrackIndex(trace), BuiltInRules());
  ASSERT_EQ(work.devices.size(), 1u);
  const DeviceItems& device = work.devices[0];
  EXPECT_THAT(device.streams, ElementsAre("9", "11"));
  EXPECT_THAT(NamesOf(trace, device),
              ElementsAre("c10d::allreduce_", "gloo:all_reduce", "aten::mm"));
  EXPECT_EQ(device.items[0].kind, WorkKind::kCommunication);
  EXPECT_EQ(device.items[1].kind, WorkKind::kCommunication);
  EXPECT_EQ(device.items[1].stream, 1u);
  EXPECT_EQ(device.items[1].row, trace.host_ops.size());
  EXPECT_EQ(device.items[2].kind, WorkKind::kCompute);
}

TEST(DeviceWork, AMergedTraceHasADeviceAProcess) {
  TraceBuilder builder;
  builder.Host("cpu_op", "aten::mm", {.pid = "[TP01] 7", .tid = "7", .start = 0, .duration = 10});
  builder.Host("cpu_op", "aten::mm", {.pid = "[TP00] 6", .tid = "6", .start = 0, .duration = 10});
  const Trace trace = std::move(builder).Finish();
  const DeviceWork work = CollectDeviceWork(TrackIndex(trace), BuiltInRules());
  ASSERT_EQ(work.devices.size(), 2u);
  EXPECT_EQ(work.devices[0].device, "[TP00] 6");
  EXPECT_EQ(work.devices[1].device, "[TP01] 7");
}

TEST(DeviceWork, BookkeepingAloneIsNoEngine) {
  TraceBuilder builder;
  builder.Host("cpu_op", "aten::empty", {.start = 0, .duration = 10});
  builder.Host("user_annotation", "gloo:all_reduce", {.tid = "2", .start = 0, .duration = 10});
  const Trace trace = std::move(builder).Finish();
  const DeviceWork work = CollectDeviceWork(TrackIndex(trace), BuiltInRules());
  EXPECT_FALSE(work.on_host);
  EXPECT_TRUE(work.devices.empty());
}

TEST(DeviceWork, OtherAcceleratorsAreNoCpuEngine) {
  const auto is_host = [](const auto& add) {
    TraceBuilder builder;
    builder.Host("cpu_op", "aten::mm", {.start = 0, .duration = 10});
    add(builder);
    const Trace trace = std::move(builder).Finish();
    const DeviceWork work = CollectDeviceWork(TrackIndex(trace), BuiltInRules());
    EXPECT_EQ(work.on_host, !work.devices.empty());
    return work.on_host;
  };
  EXPECT_TRUE(is_host([](TraceBuilder&) {}));
  EXPECT_TRUE(
      is_host([](TraceBuilder& b) { b.Host("Trace", "PyTorch Profiler (0)", {.start = 0}); }));
  EXPECT_FALSE(is_host([](TraceBuilder& b) { b.Host("mtia_ccp_events", "job", {.start = 0}); }));
  EXPECT_FALSE(
      is_host([](TraceBuilder& b) { b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 0}); }));
  EXPECT_FALSE(is_host([](TraceBuilder& b) { b.Host("hpu_op", "x", {.start = 0}); }));
  EXPECT_FALSE(is_host([](TraceBuilder& b) { b.header().devices.emplace_back(); }));
  EXPECT_TRUE(is_host([](TraceBuilder& b) { b.header().backend = "gloo"; }));
  EXPECT_FALSE(is_host([](TraceBuilder& b) { b.header().backend = "nccl"; }));
  EXPECT_FALSE(is_host([](TraceBuilder& b) { b.header().backend = "cpu:gloo,cuda:nccl"; }));
  const Trace empty = TraceBuilder().Finish();
  EXPECT_FALSE(CollectDeviceWork(TrackIndex(empty), BuiltInRules()).on_host);
}

}  // namespace
}  // namespace tacho
