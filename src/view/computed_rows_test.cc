#include "view/computed_rows.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analysis/device/device_time.h"
#include "base/random.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

const Classifier& TheClassifier() {
  static const Classifier classifier = *Classifier::Create();
  return classifier;
}

// The time of the row's slices, by name. Also checks that they are in order and do not overlap.
std::map<std::string, int64_t> TimesOf(const ComputedSlices& slices, const ComputedRow& row) {
  std::map<std::string, int64_t> times;
  for (size_t i = 0; i < row.size(); ++i) {
    const Interval when = slices.table.When(row[i]);
    times[std::string(slices.names.View(slices.table.name[row[i]]))] += when.length().ns;
    EXPECT_TRUE(i == 0 || slices.table.When(row[i - 1]).end <= when.start);
  }
  return times;
}

// The rows must agree with the tables of the analyses.
TEST(ComputedRows, AreTheFiguresOfTheTables) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Random random(seed);
    TraceBuilder builder;
    for (int64_t i = 0; i < 60; ++i) {
      const auto start = static_cast<int64_t>(random.Below(2000));
      const auto duration = static_cast<int64_t>(random.Below(60));
      const std::string stream = std::to_string(7 + random.Below(2));
      const std::string device = std::to_string(random.Below(2));
      const TraceBuilder::OnGpu at{.device = device,
                                   .stream = stream,
                                   .start = start,
                                   .duration = duration,
                                   .correlation = i};
      switch (random.Below(4)) {
        case 0:
          builder.Memcpy("Memcpy DtoD", at);
          break;
        case 1:
          builder.Kernel("ncclDevKernel_AllReduce", at);
          break;
        default:
          builder.Kernel("ampere_sgemm", at);
      }
      if (i % 2 == 0) {
        builder.Host("cuda_runtime", "cudaLaunchKernel",
                     {.start = start - static_cast<int64_t>(random.Below(100)),
                      .duration = 5,
                      .correlation = i});
      }
    }
    const Trace trace = std::move(builder).Finish();
    const PreparedTrace prepared = Prepare(trace, TheClassifier());
    const DeviceWork& work = prepared.work;
    const std::vector<DeviceTime> times = DecomposeDeviceTime(work);
    ComputedSlices slices;
    const IdleRows idle = AddIdle(prepared, nullptr, 0, slices);
    int64_t idle_time = 0;
    for (uint32_t device = 0; device < work.devices.size(); ++device) {
      const DeviceItems& items = work.devices[device];
      auto busy = TimesOf(slices, AddBusy(items, slices));
      EXPECT_EQ(busy["busy"], times[device].busy.ns);
      auto communication = TimesOf(slices, AddCommunication(items, slices));
      EXPECT_EQ(communication["exposed"], times[device].exposed_comm.ns);
      EXPECT_EQ(communication["exposed"] + communication["hidden"], times[device].comm_busy.ns);
      for (const auto& [cause, ns] : TimesOf(slices, idle.of_device[device])) {
        idle_time += ns;
      }
    }
    EXPECT_EQ(idle_time, (idle.table.window - idle.table.busy).ns) << seed;
  }
}

TEST(ComputedRows, StepsByPhase) {
  TraceBuilder builder;
  builder.Host("user_annotation", "execute_context_1(32)_generation_0(0)",
               {.start = 0, .duration = 10});
  builder.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
               {.start = 20, .duration = 5});
  const Trace trace = std::move(builder).Finish();
  ComputedSlices slices;
  const ComputedRow row = AddSteps(FindSteps(trace), slices);
  EXPECT_EQ(TimesOf(slices, row),
            (std::map<std::string, int64_t>{{"decode 1 token", 5}, {"prefill 32 tokens", 10}}));
}

TEST(Palette, EachCategoryHasItsColor) {
  std::map<std::string_view, std::string> categories;  // by the colour's name
  const std::vector<std::string_view> names = ColorNames(Palette::kWork);
  ASSERT_EQ(names.size(), kColors);
  for (const std::string& category : TheClassifier().categories()) {
    std::string& list = categories[names[ColorOfCategory(category)]];
    list += (list.empty() ? "" : " ") + category;
  }
  EXPECT_EQ(categories["gemm"], "conv gemm.dense lora gemm.low_bit");
  EXPECT_EQ(categories["copy"], "memory.copy");
  EXPECT_EQ(categories["memset, memory"], "memory.set");
  EXPECT_EQ(categories["other"],
            "unclassified host_sync bookkeeping.view bookkeeping.alloc bookkeeping.scalar "
            "bookkeeping.meta");
}

TEST(Palette, GpuWorkAndHostCalls) {
  TraceBuilder builder;
  builder.Kernel("ampere_sgemm", {.start = 0, .duration = 1});
  builder.Memcpy("Memcpy HtoD", {.start = 1, .duration = 1});
  builder.Memset("Memset", {.start = 2, .duration = 1});
  builder.Host("cuda_runtime", "cudaGraphLaunch", {});
  builder.Host("cuda_runtime", "cudaStreamSynchronize", {});
  builder.Host("cuda_runtime", "cudaMalloc", {});
  const Trace trace = std::move(builder).Finish();
  const auto of = [&](const std::vector<uint8_t>& colors, Palette palette, const char* name) {
    return ColorNames(palette)[colors[static_cast<size_t>(trace.words.strings.Find(name))]];
  };
  const std::vector<uint8_t> work = ColorsOfGpuWork(trace, TheClassifier());
  EXPECT_EQ(of(work, Palette::kWork, "ampere_sgemm"), "gemm");
  EXPECT_EQ(of(work, Palette::kWork, "Memcpy HtoD"), "copy");
  EXPECT_EQ(of(work, Palette::kWork, "Memset"), "memset, memory");
  const std::vector<uint8_t> calls = ColorsOfHostCalls(trace);
  EXPECT_EQ(of(calls, Palette::kHost, "cudaGraphLaunch"), "launch");
  EXPECT_EQ(of(calls, Palette::kHost, "cudaStreamSynchronize"), "wait");
  EXPECT_EQ(of(calls, Palette::kHost, "cudaMalloc"), "other call");
}

}  // namespace
}  // namespace tacho
