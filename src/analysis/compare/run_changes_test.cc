#include "analysis/compare/run_changes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

#include "analysis/compare/kernel_changes.h"
#include "analysis/compare/metrics.h"

namespace tacho {
namespace {

TEST(Waterfall, AddsUpToTheNanosecondOnRandomParts) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> any(0, 1e6);
  for (int round = 0; round < 2000; ++round) {
    PhaseChange phase;
    phase.mean = {0, 0, 1.0};
    for (size_t parts = random() % 12; parts-- > 0;) {
      const Change change{any(random), any(random), 1.0};
      phase.parts.push_back({"part", change});
      phase.mean.base += change.base;
      phase.mean.now += change.now;
    }
    phase.mix = {0, any(random) - 5e5, 1.0};
    phase.mean.now += phase.mix.now;
    const Waterfall fall = WaterfallOf(phase);
    int64_t at = fall.base;
    for (size_t i = 0; i < fall.bars.size(); ++i) {
      at += fall.bars[i].ns;
      const Change& change = i < phase.parts.size() ? phase.parts[i].change : phase.mix;
      EXPECT_LE(std::abs(static_cast<double>(fall.bars[i].ns) - change.difference()), 1.0);
    }
    EXPECT_EQ(at, fall.now);
  }
}

TEST(Waterfall, WhatNoPartHoldsIsUnknown) {
  const WholeChange whole{{0, 1e18, {}}, {}, {{"compute", {0, 1000, {}}}}, {}};
  const Waterfall fall = WaterfallOf(whole);
  ASSERT_EQ(fall.bars.size(), 2u);
  EXPECT_EQ(fall.bars[1].name, "unknown");
  EXPECT_EQ(fall.bars[0].ns + fall.bars[1].ns, fall.now - fall.base);
}

KernelChange Kernel(std::string name, KernelChange::Kind kind, double calls, double place) {
  const bool gone = kind == KernelChange::Kind::kGone;
  return {std::move(name),  "gemm",          kind, {}, gone ? calls : 0, gone ? 0 : calls,
          gone ? place : 0, gone ? 0 : place};
}

TEST(ProposeRenamed, PairsByCategoryCallsAndPlace) {
  using enum KernelChange::Kind;
  const std::vector<RenamedKernel> pairs = ProposeRenamed(
      {Kernel("a", kGone, 32, 0.50), Kernel("b", kGone, 32, 0.20), Kernel("c", kGone, 1, 0.9),
       Kernel("x", kNew, 32, 0.22), Kernel("y", kNew, 32, 0.49), Kernel("z", kNew, 2, 0.9)});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].before + pairs[0].after, "ay");
  EXPECT_EQ(pairs[1].before + pairs[1].after, "bx");
  EXPECT_EQ(pairs[0].reason, "both gemm, 32 calls a step, at 50 % and 49 % of the step");
}

TEST(ProposeRenamed, LooksAtABoundedNumber) {
  std::vector<KernelChange> kernels;
  for (int i = 0; i < 20'000; ++i) {
    kernels.push_back(Kernel(fmt::format("old{}", i), KernelChange::Kind::kGone, 1, 0.5));
    kernels.push_back(Kernel(fmt::format("new{}", i), KernelChange::Kind::kNew, 1, 0.5));
  }
  EXPECT_EQ(ProposeRenamed(kernels).size(), 500u);
}

TEST(Metrics, HaveTheGroupsOfTheirParts) {
  RunChanges changes;
  PhaseChange& decode = changes.phases.emplace_back();
  decode.phase = Phase::kDecode;
  decode.parts = {
      {"gemm.dense.fp8", {1, 2, 0.5}}, {"gemm.dense", {4, 4, 0.25}}, {"norm", {8, 8, 1.0}}};
  double gemm = 0, dense = 0;
  for (const MetricChange& metric : MetricsOf(changes)) {
    if (metric.name == "decode.gemm") gemm = metric.change.now;
    if (metric.name == "decode.gemm.dense") dense = metric.change.base;
  }
  EXPECT_EQ(gemm, 6);
  EXPECT_EQ(dense, 5);
}

}  // namespace
}  // namespace tacho
