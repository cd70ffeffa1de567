#include "analysis/device/device_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

constexpr std::string_view kGemm = "ampere_sgemm_32x32";
constexpr std::string_view kComm = "ncclDevKernel_AllReduce_Sum_f16_RING_LL";

std::vector<DeviceTime> TimeOf(TraceBuilder&& builder, const Scope& scope = {}) {
  static const Classifier classifier = *Classifier::Create();
  const Trace trace = std::move(builder).Finish();
  return DecomposeDeviceTime(CollectDeviceWork(TrackIndex(trace), classifier, scope), scope);
}

TEST(DeviceTime, ChargesEachInstantOnce) {
  TraceBuilder builder;
  builder.Kernel(kGemm, {.stream = "7", .start = 100, .duration = 50});           // 100-150
  builder.Kernel(kComm, {.stream = "20", .start = 120, .duration = 60});          // 120-180
  builder.Memcpy("Memcpy HtoD", {.stream = "21", .start = 140, .duration = 70});  // 140-210
  builder.Memset("Memset (Device)", {.stream = "7", .start = 300, .duration = 10});
  const auto times = TimeOf(std::move(builder));
  ASSERT_EQ(times.size(), 1u);
  const DeviceTime& time = times[0];
  EXPECT_EQ(time.window, (Interval{TimeNs{100}, TimeNs{310}}));
  EXPECT_EQ(time.busy.ns, 120);
  EXPECT_EQ(time.idle.ns, 90);
  EXPECT_EQ(time.compute.ns, 60);
  EXPECT_EQ(time.exposed_comm.ns, 30);
  EXPECT_EQ(time.exposed_copy.ns, 30);
  EXPECT_EQ(time.kernel_sum.ns, 110);
  EXPECT_EQ(time.kernel_busy.ns, 80);
  EXPECT_EQ(time.comm_busy.ns, 60);
  EXPECT_EQ(time.copy_busy.ns, 70);
  EXPECT_EQ(time.by_kinds[0].ns, 90);
  EXPECT_EQ(time.by_kinds[1].ns, 20);  // the gemm alone
  EXPECT_EQ(time.by_kinds[1 | 2 | 4].ns, 10);
  EXPECT_EQ(time.by_concurrency[1].ns, 20 + 30 + 10);
  EXPECT_EQ(time.by_concurrency[2].ns, 20 + 30);
  EXPECT_EQ(time.by_concurrency[3].ns, 10);
  EXPECT_EQ(time.gpu_events, 4u);
  EXPECT_EQ(time.gaps.count, 1u);
  EXPECT_EQ(time.gaps.largest.ns, 90);
}

TEST(DeviceTime, CountsOverlapsOnAStream) {
  TraceBuilder builder;
  // Programmatic dependent launch: the next kernel starts before the last one ends.
  builder.Kernel(kGemm, {.start = 0, .duration = 100});
  builder.Kernel(kGemm, {.start = 20, .duration = 10});  // inside
  builder.Kernel(kGemm, {.start = 90, .duration = 30});  // overlaps the first, not the second
  builder.Kernel(kGemm, {.start = 120, .duration = 5});  // touches
  builder.Kernel(kGemm, {.stream = "8", .start = 10, .duration = 5});
  const auto times = TimeOf(std::move(builder));
  ASSERT_EQ(times[0].streams.size(), 2u);
  const StreamTime& stream = times[0].streams[0];
  EXPECT_EQ(stream.stream, "7");
  EXPECT_EQ(stream.events, 4u);
  EXPECT_EQ(stream.overlaps, 2u);
  EXPECT_EQ(stream.sum.ns, 145);
  EXPECT_EQ(stream.busy.ns, 125);
  EXPECT_EQ(times[0].streams[1].overlaps, 0u);
  EXPECT_EQ(times[0].busy.ns, 125);
}

TEST(DeviceTime, AStreamSaysWhatItDoes) {
  TraceBuilder builder;
  builder.Kernel(kGemm, {.start = 0, .duration = 60});
  builder.Kernel(kComm, {.start = 50, .duration = 30});
  builder.Kernel(kGemm, {.start = 100, .duration = 10});
  builder.Memcpy("Memcpy HtoD", {.start = 120, .duration = 8});
  builder.Memset("Memset (Device)", {.start = 130, .duration = 2});
  builder.Memset("Memset (Device)", {.start = 140, .duration = 0});
  const auto times = TimeOf(std::move(builder));
  const StreamTime& stream = times[0].streams[0];
  EXPECT_EQ(stream.by_kind, (std::array<DurationNs, kWorkKinds>{{{70}, {30}, {8}, {2}}}));
  std::vector<std::tuple<std::string, uint64_t, int64_t>> rows;
  for (const CategoryRow& row : stream.categories) {
    rows.emplace_back(row.category, row.count, row.total.ns);
  }
  EXPECT_THAT(rows, testing::ElementsAre(std::tuple("gemm.dense", 2, 70),
                                         std::tuple("comm.collective", 1, 30),
                                         std::tuple("copy", 1, 8), std::tuple("memset", 2, 2)));
}

TEST(DeviceTime, CountsGapsStrictlyLonger) {
  TraceBuilder builder;
  int64_t at = 0;
  for (const int64_t gap : {0, 999, 1'000, 1'001, 10'001, 100'001, 1'000'001}) {
    at += gap;
    builder.Kernel(kGemm, {.start = at, .duration = 10});
    at += 10;
  }
  const GapCounts gaps = TimeOf(std::move(builder))[0].gaps;
  EXPECT_EQ(gaps.count, 6u);
  EXPECT_EQ(gaps.over_1us, 4u);
  EXPECT_EQ(gaps.over_10us, 3u);
  EXPECT_EQ(gaps.over_100us, 2u);
  EXPECT_EQ(gaps.over_1ms, 1u);
  EXPECT_EQ(gaps.largest.ns, 1'000'001);
}

TEST(DeviceTime, AWindowClipsTimesAndCountsStarts) {
  TraceBuilder builder;
  builder.Kernel(kGemm, {.start = 0, .duration = 110});
  builder.Kernel(kGemm, {.start = 150, .duration = 100});
  builder.Kernel(kGemm, {.device = "1", .start = 500, .duration = 1});
  const auto times = TimeOf(std::move(builder), WindowScope(100, 200));
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].gpu_events, 1u);
  EXPECT_EQ(times[0].busy.ns, 60);
  EXPECT_EQ(times[0].kernel_sum.ns, 60);
  EXPECT_EQ(times[0].streams[0].sum.ns, 60);
  EXPECT_EQ(times[0].streams[0].events, 1u);
  EXPECT_EQ(times[0].gaps.count, 1u);
  EXPECT_EQ(times[1].idle.ns, 100);
  EXPECT_EQ(times[1].gaps.count, 1u) << "idle all along";
  EXPECT_EQ(times[1].gaps.largest.ns, 100);
}

TEST(DeviceTime, TheEndsOfAWindowAreGaps) {
  TraceBuilder builder;
  builder.Kernel(kGemm, {.start = 120, .duration = 10});
  const auto times = TimeOf(std::move(builder), WindowScope(100, 200));
  EXPECT_EQ(times[0].gaps.count, 2u);
  EXPECT_EQ(times[0].gaps.largest.ns, 70);
  EXPECT_EQ(times[0].idle.ns, 90);
}

TEST(DeviceTime, EmptyThingsHaveNoTime) {
  EXPECT_TRUE(TimeOf(TraceBuilder()).empty());
  TraceBuilder builder;
  builder.Kernel(kGemm, {.start = 5});
  const auto times = TimeOf(std::move(builder));
  EXPECT_EQ(times[0].gpu_events, 1u);
  EXPECT_EQ(times[0].window.length().ns, 0);
  EXPECT_EQ(times[0].busy.ns + times[0].idle.ns, 0);
  EXPECT_EQ(times[0].gaps.count, 0u);
}

TEST(DeviceTime, ManyAtOnceShareTheLastCell) {
  TraceBuilder builder;
  for (int i = 0; i < 12; ++i) builder.Kernel(kGemm, {.start = i, .duration = 100});
  const DeviceTime time = TimeOf(std::move(builder))[0];
  EXPECT_EQ(time.by_concurrency[8].ns, 111 - 14);
  EXPECT_EQ(time.by_concurrency[7].ns, 2);
}

TEST(DeviceTime, ACpuEngineIsMarked) {
  TraceBuilder builder;
  builder.Host("cpu_op", "aten::mm", {.tid = "3", .start = 10, .duration = 30});
  builder.Host("cpu_op", "_C::shm_allreduce", {.tid = "3", .start = 50, .duration = 10});
  builder.Host("user_annotation", "gloo:all_reduce", {.tid = "4", .start = 30, .duration = 15});
  const DeviceTime time = TimeOf(std::move(builder))[0];
  EXPECT_TRUE(time.on_host);
  EXPECT_EQ(time.device, "cpu");
  EXPECT_EQ(time.compute.ns, 30);
  EXPECT_EQ(time.exposed_comm.ns, 5 + 10);
  EXPECT_EQ(time.idle.ns, 5);
}

TEST(DeviceTime, WorkWithoutALengthEndsNoGap) {
  TraceBuilder builder;
  builder.Kernel("a", {.start = 0, .duration = 10});
  builder.Kernel("empty", {.start = 50, .duration = 0});
  builder.Kernel("b", {.start = 100, .duration = 10});
  const Trace trace = std::move(builder).Finish();
  const std::vector<DeviceTime> times =
      DecomposeDeviceTime(CollectDeviceWork(TrackIndex(trace), *Classifier::Create()));
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].gaps.count, 1u);
  EXPECT_EQ(times[0].gaps.largest.ns, 90);
  EXPECT_EQ(times[0].gpu_events, 3u);
}

}  // namespace
}  // namespace tacho
