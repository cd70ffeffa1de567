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

// The steps of one group of batches.
struct GroupOf {
  int64_t requests = 0;
  uint64_t steps = 0;
  std::vector<Uses> kernels;
};

void AddGroup(const GroupOf& group, TraceAnalysis& trace) {
  const auto& [requests, steps, kernels] = group;
  StepProfile::Batch& batch = trace.step_profile.batches.emplace_back();
  batch.batch = {Phase::kDecode, requests};
  batch.steps = steps;
  for (uint64_t step = 0; step < steps; ++step) {
    const auto number = static_cast<uint32_t>(trace.steps.steps.size());
    StepLabel& label = trace.steps.steps.emplace_back().label;
    label.phase = Phase::kDecode;
    label.generation_requests = requests;
    trace.step_profile.rows.push_back(
        {number, 0, {{number * 1'000}, {number * 1'000 + 1'000}}, {}});
  }
  for (const Uses& kernel : kernels) {
    const auto known = std::ranges::find(trace.kernels.rows, kernel.name, &KernelRow::name);
    const auto at = static_cast<uint32_t>(known - trace.kernels.rows.begin());
    if (known == trace.kernels.rows.end()) {
      KernelRow& row = trace.kernels.rows.emplace_back();
      row.name = kernel.name;
      row.category = "gemm.dense";
      row.device = "0";
    }
    // As evenly over the steps as whole calls can be.
    const auto n = static_cast<double>(steps);
    const double each = static_cast<double>(kernel.calls) / n, rest = each - std::floor(each);
    const double deviation =
        rest == 0 ? 0 : std::sqrt(rest * (1 - rest) * n / (n - 1)) * static_cast<double>(kernel.ns);
    batch.kernels.push_back({at,
                             kernel.calls,
                             {static_cast<int64_t>(kernel.calls) * kernel.ns},
                             {std::llround(deviation)},
                             kernel.place});
  }
}

TraceAnalysis TraceOf(const std::vector<GroupOf>& groups) {
  TraceAnalysis trace;
  trace.devices.emplace_back().device = "0";
  for (const GroupOf& group : groups) AddGroup(group, trace);
  return trace;
}
TraceAnalysis StepsOf(uint64_t steps, const std::vector<Uses>& kernels) {
  return TraceOf({{8, steps, kernels}});
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
    // Times are whole ns.
    EXPECT_NEAR(Compare(once, twice, "map").calls_half_width, 2.0 / 99, 0.02 * 2.0 / 99);
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

std::vector<KernelChange> CompareGroups(const TraceAnalysis& base, const TraceAnalysis& now,
                                        const std::vector<int64_t>& requests) {
  SharedBatches batches;
  for (const int64_t most : requests)
    batches[{Phase::kDecode, most}] = {1.0 / static_cast<double>(requests.size()), 0.0};
  const Side of_base(8, base), of_now(8, now);
  return CompareKernels(RanksOfBoth(of_base, of_now), batches, 1.0);
}

Kind KindOfMap(const std::vector<KernelChange>& changes) {
  return std::ranges::find(changes, "map", &KernelChange::name)->kind;
}

// Eight ranks have eight steps of a group, but all of them are the one step of a window.
TEST(CompareKernels, OneStepInAWindowShowsNoNewKernel) {
  const std::vector<Uses> without = {{"gemm", 4}}, with = {{"gemm", 4}, {"map", 36}};
  const TraceAnalysis once = TraceOf({{8, 1, without}}), now = TraceOf({{8, 1, with}});
  EXPECT_EQ(KindOfMap(CompareGroups(once, now, {8})), Kind::kSame);
  EXPECT_EQ(KindOfMap(CompareGroups(now, once, {8})), Kind::kSame);
  // It is new if it runs in the one step of each of many groups, or in more steps.
  std::vector<GroupOf> before, after;
  std::vector<int64_t> requests;
  for (int64_t group = 1; group <= 10; ++group) {
    requests.push_back(group);
    before.push_back({group, 1, without});
    after.push_back({group, 1, with});
  }
  EXPECT_EQ(KindOfMap(CompareGroups(TraceOf(before), TraceOf(after), requests)), Kind::kNew);
  EXPECT_EQ(KindOfMap(CompareGroups(TraceOf({{8, 2, without}}),
                                    TraceOf({{8, 2, {{"gemm", 8}, {"map", 72}}}}), {8})),
            Kind::kNew);
}

// Where one group shows that a kernel runs in some steps of a phase, no other group shows that it
// is new.
TEST(CompareKernels, SomeStepsOfAPhaseAreThoseOfAllItsGroups) {
  const std::vector<Uses> rare = {{"gemm", 400}, {"map", 36 * 5}};
  const TraceAnalysis base = TraceOf({{8, 100, rare}, {16, 2, {{"gemm", 8}}}});
  const TraceAnalysis now = TraceOf({{8, 100, rare}, {16, 2, {{"gemm", 8}, {"map", 72}}}});
  EXPECT_EQ(KindOfMap(CompareGroups(base, now, {8, 16})), Kind::kSame);
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
