#include "analysis/device/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

KernelTable TableOf(TraceBuilder&& builder, const Scope& scope = {}) {
  const Trace trace = std::move(builder).Finish();
  return TabulateKernels(trace, CollectDeviceWork(TrackIndex(trace), BuiltInRules(), scope),
                         BuiltInRules(), scope);
}

TEST(Summarize, PercentilesAreNearestRank) {
  std::vector<int64_t> durations;
  for (int64_t i = 100; i > 0; --i) durations.push_back(i);
  const DurationStats stats = Summarize(durations);
  EXPECT_EQ(stats.count, 100u);
  EXPECT_EQ(stats.total.ns, 5050);
  EXPECT_EQ(stats.min.ns, 1);
  EXPECT_EQ(stats.max.ns, 100);
  EXPECT_EQ(stats.p50.ns, 50);
  EXPECT_EQ(stats.p90.ns, 90);
  EXPECT_EQ(stats.p99.ns, 99);
  EXPECT_EQ(stats.mean().ns, 50);

  std::vector<int64_t> one{7};
  EXPECT_EQ(Summarize(one).p50.ns, 7);
  EXPECT_EQ(Summarize(one).p99.ns, 7);
  std::vector<int64_t> three{3, 1, 2};
  EXPECT_EQ(Summarize(three).p50.ns, 2);
  EXPECT_EQ(Summarize(three).p90.ns, 3);
  std::vector<int64_t> none;
  EXPECT_EQ(Summarize(none).total.ns, 0);
  EXPECT_EQ(Summarize(none).mean().ns, 0);
}

// Many durations are counted by size instead of sorted. The result must be the same.
TEST(Summarize, ManyOrFewTheSameAsSorted) {
  std::mt19937_64 random(3);
  for (const size_t count : {1u, 2u, 99u, 4095u, 4096u, 4097u, 20'000u}) {
    for (const int most_bits : {0, 1, 6, 7, 12, 30, 48}) {
      std::vector<int64_t> durations(count);
      for (int64_t& ns : durations) {
        const auto bits = most_bits == 0 ? 0 : random() % static_cast<uint64_t>(most_bits + 1);
        ns = bits == 0 ? 0 : static_cast<int64_t>(random() >> (64 - bits));
      }
      std::vector<int64_t> sorted = durations;
      std::ranges::sort(sorted);
      const DurationStats stats = Summarize(durations);
      const auto at = [&](size_t percent) { return sorted[(count * percent + 99) / 100 - 1]; };
      EXPECT_EQ(stats.p50.ns, at(50)) << count << ' ' << most_bits;
      EXPECT_EQ(stats.p90.ns, at(90)) << count << ' ' << most_bits;
      EXPECT_EQ(stats.p99.ns, at(99)) << count << ' ' << most_bits;
      EXPECT_EQ(stats.min.ns, sorted.front());
      EXPECT_EQ(stats.max.ns, sorted.back());
    }
  }
}

TEST(Kernels, GroupsByNameAndDevice) {
  TraceBuilder builder;
  builder.Kernel("ampere_sgemm_a", {.device = "0", .start = 0, .duration = 30'000});
  builder.Kernel("ampere_sgemm_a", {.device = "0", .start = 50'000, .duration = 9'999});
  builder.Kernel("ampere_sgemm_a", {.device = "1", .start = 0, .duration = 10'000});
  builder.Kernel("mystery", {.device = "0", .start = 90'000, .duration = 10'000});
  builder.Memcpy("Memcpy DtoD", {.device = "0", .start = 95'000, .duration = 99'000});
  builder.Memset("Memset", {.device = "0", .start = 95'000, .duration = 99'000});
  const KernelTable table = TableOf(std::move(builder));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_EQ(table.rows[0].name, "ampere_sgemm_a");
  EXPECT_EQ(table.rows[0].device, "0");
  EXPECT_EQ(table.rows[0].category, "gemm.dense");
  EXPECT_EQ(table.rows[0].stats.total.ns, 39'999);
  EXPECT_EQ(table.rows[0].stats.count, 2u);
  // Equal totals are ordered by name, then by device.
  EXPECT_EQ(table.rows[1].name, "ampere_sgemm_a");
  EXPECT_EQ(table.rows[1].device, "1");
  EXPECT_EQ(table.rows[2].name, "mystery");
  EXPECT_EQ(table.rows[2].category, "unclassified");
  EXPECT_EQ(table.total.ns, 59'999);
  EXPECT_EQ(table.shorter_than_10us, 1u);
  EXPECT_DOUBLE_EQ(table.coverage, 49'999.0 / 59'999.0);
  ASSERT_EQ(table.categories.size(), 2u);
  EXPECT_EQ(table.categories[0].category, "gemm.dense");
  EXPECT_EQ(table.categories[0].count, 3u);
  EXPECT_EQ(table.categories[0].total.ns, 49'999);
  EXPECT_EQ(table.categories[1].category, "unclassified");
}

TEST(Kernels, AWindowTakesWholeKernelsThatStartInside) {
  TraceBuilder builder;
  builder.Kernel("a", {.start = 5, .duration = 10});   // reaches into the window
  builder.Kernel("b", {.start = 15, .duration = 10});  // reaches out of the window
  builder.Kernel("c", {.start = 20, .duration = 10});
  Scope scope;
  scope.window = Interval{TimeNs{10}, TimeNs{20}};
  const KernelTable table = TableOf(std::move(builder), scope);
  ASSERT_EQ(table.rows.size(), 1u);
  EXPECT_EQ(table.rows[0].name, "b");
  EXPECT_EQ(table.rows[0].stats.total.ns, 10);
}

TEST(Kernels, NothingIsCovered) {
  const KernelTable table = TableOf(TraceBuilder());
  EXPECT_TRUE(table.rows.empty());
  EXPECT_EQ(table.coverage, 1.0);
}

TEST(Kernels, OperatorsStandInOnACpuEngine) {
  TraceBuilder builder;
  builder.Host("cpu_op", "aten::linear", {.start = 0, .duration = 100});
  builder.Host("cpu_op", "aten::addmm", {.start = 10, .duration = 80});
  builder.Host("cpu_op", "aten::silu", {.start = 100, .duration = 20});
  const KernelTable table = TableOf(std::move(builder));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].name, "aten::addmm");
  EXPECT_EQ(table.rows[0].device, "cpu");
  EXPECT_EQ(table.rows[0].category, "gemm.dense");
  EXPECT_EQ(table.coverage, 1.0);
}

TEST(Kernels, SumsStayInRange) {
  std::vector<int64_t> durations(3, INT64_MAX / 2);
  EXPECT_EQ(Summarize(durations).total.ns, INT64_MAX);
}

}  // namespace
}  // namespace tacho
