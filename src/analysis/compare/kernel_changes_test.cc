#include "analysis/compare/kernel_changes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tacho {
namespace {

using Kind = KernelChange::Kind;

constexpr StepBatch kBatch{Phase::kDecode, 8};

// How a kernel of `ns` runs in the steps of a trace: `calls` in all of them.
struct Uses {
  const char* name;
  uint64_t calls = 0;
  int64_t ns = 100;
  double place = 0.5;
};

TraceAnalysis StepsOf(uint64_t steps, const std::vector<Uses>& kernels) {
  TraceAnalysis trace;
  trace.devices.emplace_back().device = "0";
  StepProfile::Batch& batch = trace.step_profile.batches.emplace_back();
  batch.batch = kBatch;
  batch.steps = steps;
  for (uint32_t step = 0; step < steps; ++step) {
    StepLabel& label = trace.steps.steps.emplace_back().label;
    label.phase = Phase::kDecode;
    label.generation_requests = 8;
    trace.step_profile.rows.push_back({step, 0, {{step * 1'000}, {step * 1'000 + 1'000}}, {}});
  }
  for (const Uses& kernel : kernels) {
    KernelRow row;
    row.name = kernel.name;
    row.category = "gemm.dense";
    row.device = "0";
    // As evenly over the steps as whole calls can be.
    const auto n = static_cast<double>(steps);
    const double each = static_cast<double>(kernel.calls) / n, rest = each - std::floor(each);
    const double deviation =
        std::sqrt(rest * (1 - rest) * n / (n - 1)) * static_cast<double>(kernel.ns);
    batch.kernels.push_back({static_cast<uint32_t>(trace.kernels.rows.size()),
                             kernel.calls,
                             {static_cast<int64_t>(kernel.calls) * kernel.ns},
                             {std::llround(deviation)},
                             kernel.place});
    trace.kernels.rows.push_back(std::move(row));
  }
  return trace;
}

using Side = std::vector<TraceAnalysis>;  // the ranks of one run
ComparedRanks RanksOfBoth(const Side& base, const Side& now) {
  ComparedRanks ranks;
  for (const auto& [side, of] : {std::pair(&base, &ranks.base), {&now, &ranks.now}}) {
    RunRanks& run = of->emplace_back();
    for (const TraceAnalysis& trace : *side) run.push_back(&trace);
  }
  return ranks;
}

std::vector<KernelChange> Compare(const Side& base, const Side& now) {
  return CompareKernels(RanksOfBoth(base, now), {{kBatch, {1.0, 0.0}}}, 1.0);
}

KernelChange Compare(const Side& base, const Side& now, std::string_view name) {
  const std::vector<KernelChange> changes = Compare(base, now);
  return *std::ranges::find(changes, name, &KernelChange::name);
}

TEST(CompareKernels, CountsThoseOfAStepOnTheDevicesThatRunThem) {
  const TraceAnalysis sampler = StepsOf(100, {{"sample", 300}, {"gemm", 400}});
  const TraceAnalysis other = StepsOf(100, {{"gemm", 400}});
  const TraceAnalysis short_one = StepsOf(20, {{"gemm", 80}});
  // Neither fewer steps of a rank that does not run it nor fewer such ranks change a kernel.
  for (const Side& now : {Side{sampler, short_one}, Side{sampler}, Side{sampler, other, other}}) {
    const KernelChange sample = Compare({sampler, other}, now, "sample");
    EXPECT_EQ(sample.kind, Kind::kSame);
    EXPECT_DOUBLE_EQ(sample.base_calls, 3);
    EXPECT_DOUBLE_EQ(sample.now_calls, 3);
    EXPECT_DOUBLE_EQ(sample.time.base, 300);
    EXPECT_DOUBLE_EQ(sample.time.now, 300);
    EXPECT_EQ(Compare(now, {sampler, other}, "sample").kind, Kind::kSame);
  }
  const TraceAnalysis more = StepsOf(100, {{"sample", 400}, {"gemm", 400}});
  EXPECT_EQ(Compare({sampler, other}, {more, short_one}, "sample").kind, Kind::kMoreCalls);
  EXPECT_EQ(Compare({more, short_one}, {sampler, other}, "sample").kind, Kind::kFewerCalls);
  EXPECT_EQ(Compare({sampler, other}, {other, other}, "sample").kind, Kind::kGone);
  EXPECT_EQ(Compare({other, other}, {sampler, other}, "sample").kind, Kind::kNew);
}

// Every 50th step: a window of 99 steps holds one or two of them.
TEST(CompareKernels, OneCallMoreInAWindowIsNoChange) {
  for (const size_t ranks : {size_t{1}, size_t{8}, size_t{64}}) {
    const Side once(ranks, StepsOf(99, {{"map", 1}})), twice(ranks, StepsOf(99, {{"map", 2}}));
    EXPECT_EQ(Compare(once, twice, "map").kind, Kind::kSame) << ranks;
    EXPECT_EQ(Compare(twice, once, "map").kind, Kind::kSame) << ranks;
    EXPECT_NEAR(Compare(once, twice, "map").calls_half_width, 2.0 / 99, 1e-9);
    const Side often(ranks, StepsOf(99, {{"map", 50}}));
    EXPECT_EQ(Compare(once, often, "map").kind, Kind::kMoreCalls) << ranks;
  }
}

// The ranks run it in the same steps, so more ranks do not make it better known.
TEST(CompareKernels, RanksAreNoMoreEvidenceForAKernelOfSomeSteps) {
  double half_width = 0;
  for (const size_t ranks : {size_t{1}, size_t{8}}) {
    const Side few(ranks, StepsOf(150, {{"map", 10}})), many(ranks, StepsOf(150, {{"map", 22}}));
    const KernelChange change = Compare(few, many, "map");
    EXPECT_EQ(change.kind, Kind::kSame) << ranks;
    if (half_width == 0) half_width = *change.time.half_width;
    EXPECT_NEAR(*change.time.half_width / half_width, 1, 0.05);
  }
}

TEST(CompareKernels, OneOddStepInAHundredKeepsTheTest) {
  const Side odd = {StepsOf(100, {{"gemm", 401}})};
  const KernelChange same = Compare(odd, {StepsOf(100, {{"gemm", 400}})}, "gemm");
  EXPECT_EQ(same.kind, Kind::kSame);
  EXPECT_EQ(same.calls_half_width, 0);
  EXPECT_EQ(Compare(odd, {StepsOf(100, {{"gemm", 500}})}, "gemm").kind, Kind::kMoreCalls);
  EXPECT_GT(Compare({StepsOf(100, {{"gemm", 402}})}, odd, "gemm").calls_half_width, 0);
}

TEST(CompareKernels, AStepOfItsDevicesIsNeededOnEachSide) {
  SharedBatches batches = {{kBatch, {1.0, 0.0}}};
  const TraceAnalysis one = StepsOf(1, {{"sample", 3}}), other = StepsOf(100, {{"gemm", 400}}),
                      whole = StepsOf(100, {{"sample", 300}});
  const auto changes = CompareKernels(RanksOfBoth({one, other}, {whole, other}), batches, 1.0);
  EXPECT_EQ(std::ranges::find(changes, "sample", &KernelChange::name)->kind, Kind::kSame);
}

TEST(ProposeRenamed, FindsKernelsOfSomeSteps) {
  const auto pairs = [](uint64_t before, uint64_t after) {
    return ProposeRenamed(
        Compare({StepsOf(400, {{"map", before}})}, {StepsOf(400, {{"place", after}})}));
  };
  EXPECT_EQ(pairs(100, 100).size(), 1u);
  EXPECT_EQ(pairs(100, 99).size(), 1u);
  EXPECT_EQ(pairs(38, 37).size(), 1u) << "one of 38 is more than 2 %";
  EXPECT_EQ(pairs(100, 50).size(), 0u);
  // A rank that runs neither does not count.
  const Side base = {StepsOf(100, {{"old", 400}}), StepsOf(20, {{"gemm", 80}})};
  const Side now = {StepsOf(100, {{"fresh", 400}}), StepsOf(90, {{"gemm", 360}})};
  const auto renamed = ProposeRenamed(Compare(base, now));
  ASSERT_EQ(renamed.size(), 1u);
  EXPECT_EQ(renamed[0].before, "old");
  EXPECT_EQ(renamed[0].after, "fresh");
}

}  // namespace
}  // namespace tacho
