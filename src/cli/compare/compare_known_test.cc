// Comparisons of simulated runs whose truth is known, each with noise of its own. The tests are
// here because they need the simulator, the readers and the analyses.
#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <set>
#include <string>

#include "analysis/compare/compare_runs.h"
#include "analysis/compare/metrics.h"
#include "cli/analyze/known_run_for_test.h"
#include "report/words/compare_words.h"
#include "simulate/known/step_parts.h"

namespace tacho {
namespace {

using simulate::KnownRun;
using simulate::KnownRunOptions;
using simulate::PhaseParts;
using testing::Contains;
using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kRandomPairs = 200;
constexpr int kPairsOfSeveralRuns = 40;

RunAnalysis AnalysisOfKnown(const KnownRun& run) {
  RunAnalysis analysis;
  for (int64_t rank = 0; rank < run.options.ranks; ++rank) {
    analysis.traces.push_back(
        AnalyzeTrace(ReadKnownTrace(run, rank), KnownRunRules(),
                     {.scope = {}, .key_averages = false, .step_profile = true}));
    analysis.traces.back().path = simulate::KnownTraceName(run, rank);
  }
  AnalyzeRun(analysis);
  return analysis;
}

RunChanges CompareKnown(const KnownRunOptions& base, const KnownRunOptions& now) {
  std::vector<RunAnalysis> of_base, of_now;
  of_base.push_back(AnalysisOfKnown(*MakeKnownRun(base)));
  of_now.push_back(AnalysisOfKnown(*MakeKnownRun(now)));
  return CompareRuns(of_base, of_now);
}

KnownRunOptions KnownOptions(uint64_t seed, int64_t steps, int64_t ranks = 1,
                             const std::string& change = "") {
  KnownRunOptions options;
  options.seed = seed;
  options.steps = steps;
  options.ranks = ranks;
  if (!change.empty()) options.changes = {*simulate::ParseChange(change)};
  return options;
}

std::set<std::string> MetricsBeyondNoise(const RunChanges& changes) {
  std::set<std::string> beyond_noise;
  for (const MetricChange& metric : MetricsOf(changes)) {
    if (metric.change.IsBeyondNoise()) beyond_noise.insert(metric.name);
  }
  return beyond_noise;
}

const PhaseChange& Decode(const RunChanges& changes) {
  return *std::ranges::find(changes.phases, Phase::kDecode, &PhaseChange::phase);
}

// What a change does to the mean decode step of all ranks, if no noise differs between the two
// runs.
struct Truth {
  double step = 0, idle = 0;
  std::set<std::string> gone, fresh, slower;
};
Truth TruthOf(const KnownRunOptions& options) {
  Truth truth;
  const KnownRun with_change = *MakeKnownRun(options);
  const KnownRun without_change = *WithoutChanges(options);
  auto with = PartsOf(with_change), without = PartsOf(without_change);
  for (size_t rank = 0; rank < with.size(); ++rank) {
    const PhaseParts &a = without[rank].phases["decode"], &b = with[rank].phases["decode"];
    const auto of_rank = [&](int64_t from, int64_t to) {
      return static_cast<double>(to - from) / static_cast<double>(b.steps) /
             static_cast<double>(with.size());
    };
    truth.step += of_rank(a.step_ns, b.step_ns);
    truth.idle += of_rank(a.idle_ns, b.idle_ns);
    for (const auto& [name, kernel] : a.kernels) {
      const auto now = b.kernels.find(name);
      if (now == b.kernels.end())
        truth.gone.insert(name);
      else if (now->second.total_ns > kernel.total_ns)
        truth.slower.insert(name);
    }
    for (const auto& [name, kernel] : b.kernels) {
      if (!a.kernels.contains(name)) truth.fresh.insert(name);
    }
  }
  return truth;
}

std::set<std::string> KernelsThatAre(KernelChange::Kind kind, const PhaseChange& phase) {
  std::set<std::string> names;
  for (const KernelChange& kernel : phase.kernels) {
    if (kernel.kind == kind) names.insert(kernel.name);
  }
  return names;
}

// A change. It moves at least one of the metrics in `moves` beyond noise, and no others.
struct Expectation {
  const char* change;
  int64_t ranks;
  std::vector<const char*> moves;  // beginnings of metric names, without the phase
  bool other_batches = false;      // so the mean step moves, and the step at equal batch does not
};
const std::vector<Expectation> kExpectations = {
    {"slower@gate-up:5%", 1, {"gemm", "block.mlp-up", "step", "mean", "kernels.slower"}},
    {"slower@attention:12%", 1, {"attention", "block.attention", "step", "mean", "kernels.slower"}},
    {"fused@rope",
     1,
     {"rope", "kv_cache", "block.rope", "idle", "step", "mean", "kernels.gone", "kernels.new"}},
    {"renamed@gate-up", 1, {"kernels.gone", "kernels.new"}},
    {"host-late:200us", 1, {"idle", "step", "mean"}},
    {"scheduler-late:200us", 1, {"idle", "step", "mean"}},
    {"late-rank@1:200us",
     2,
     {"idle", "comm", "block.all-reduce", "step", "mean", "kernels.slower"}},
    {"comm-slower:20%",
     2,
     {"comm", "block.all-reduce", "block.lm-head", "idle", "step", "mean", "kernels.slower"}},
    {"requests:8", 1, {"mean", "mix", "step.p50", "step.p99"}, true},
};

TEST(CompareKnownRuns, EqualPairsShowNoDifferenceAndAChangeIsFoundAndNoOther) {
  uint64_t equal = 0, equal_with_any = 0, changed = 0, found = 0, others = 0, within = 0;
  uint64_t slower = 0, named = 0;
  for (uint64_t pair = 0; pair < kRandomPairs; ++pair) {
    const uint64_t seed = 2 * pair + 1;
    if (pair % 2 == 0) {
      ++equal;
      const RunChanges changes = CompareKnown(KnownOptions(seed, 200), KnownOptions(seed + 1, 200));
      EXPECT_TRUE(changes.obstacles.empty());
      equal_with_any += MetricsBeyondNoise(changes).empty() ? 0 : 1;
      continue;
    }
    ++changed;
    const Expectation& expected = kExpectations[(pair / 2) % kExpectations.size()];
    const KnownRunOptions now = KnownOptions(seed + 1, 500, expected.ranks, expected.change);
    const RunChanges changes = CompareKnown(KnownOptions(seed, 500, expected.ranks), now);
    EXPECT_TRUE(changes.obstacles.empty()) << expected.change;
    bool any = false, other = false;
    for (const std::string& metric : MetricsBeyondNoise(changes)) {
      const std::string name = metric.substr(metric.find('.') + 1);
      const bool is_expected = std::ranges::any_of(
          expected.moves, [&](std::string_view moves) { return name.starts_with(moves); });
      any |= is_expected;
      other |= !is_expected;
    }
    const Truth truth = TruthOf(now);
    const std::set<std::string> called_slower =
        KernelsThatAre(KernelChange::Kind::kSlower, Decode(changes));
    if (!expected.other_batches) {
      for (const std::string& name : called_slower) other |= !truth.slower.contains(name);
    }
    if (std::string_view(expected.change).starts_with("slower@")) {
      ++slower;
      named += called_slower == truth.slower ? 1 : 0;
    }
    found += any ? 1 : 0;
    others += other ? 1 : 0;
    const Change step = Decode(changes).step;
    const double true_step = expected.other_batches ? 0 : truth.step;
    within += std::abs(step.difference() - true_step) <= *step.half_width ? 1 : 0;
    EXPECT_EQ(KernelsThatAre(KernelChange::Kind::kGone, Decode(changes)), truth.gone);
    EXPECT_EQ(KernelsThatAre(KernelChange::Kind::kNew, Decode(changes)), truth.fresh);
  }
  RecordProperty("equal_with_any", static_cast<int>(equal_with_any));
  EXPECT_LE(20 * equal_with_any, equal);  // 5 %
  EXPECT_GE(20 * found, 19 * changed);
  EXPECT_LE(20 * others, changed);
  EXPECT_GE(20 * within, 19 * changed);
  EXPECT_GE(20 * named, 19 * slower);
}

TEST(CompareKnownRuns, NameWhereTheTimeWent) {
  const RunChanges late =
      CompareKnown(KnownOptions(1, 300), KnownOptions(2, 300, 1, "host-late:200us"));
  EXPECT_THAT(CompareVerdict(late), testing::HasSubstr("us of it in idle.host-late"));
  const Change host = [&] {
    for (const NamedChange& part : Decode(late).parts) {
      if (part.name == "idle.host-late") return part.change;
    }
    return Change{};
  }();
  EXPECT_NEAR(host.difference(), 200'000, 10'000);
  const RunChanges renamed =
      CompareKnown(KnownOptions(1, 300), KnownOptions(2, 300, 1, "renamed@gate-up"));
  ASSERT_EQ(Decode(renamed).renamed.size(), 1u);
}

// As in sglang's issue 29960: the kernel times of two engines add up to nearly as much, but one of
// them runs the shared expert after the other kernels, not beside them.
TEST(CompareKnownRuns, AcrossEnginesLostOverlapIsNamed) {
  KnownRunOptions sglang = KnownOptions(1, 150, 1, "serial"), vllm = KnownOptions(2, 150);
  sglang.engine = simulate::SimulatedEngine::kSglang;
  for (KnownRunOptions* options : {&sglang, &vllm}) {
    options->model = "14b-a3b";
    options->layers = 8;
  }
  const auto overlap = [](const KnownRun& run) {
    const PhaseParts parts = PartsOf(run)[0].phases["decode"];
    return static_cast<double>(parts.overlap_ns) / static_cast<double>(parts.steps);
  };
  EXPECT_EQ(overlap(*MakeKnownRun(sglang)), 0);
  const double truth = overlap(*WithoutChanges(sglang));
  std::vector<RunAnalysis> base, now;
  base.push_back(AnalysisOfKnown(*MakeKnownRun(sglang)));
  now.push_back(AnalysisOfKnown(*MakeKnownRun(vllm)));
  const RunChanges changes = CompareRuns(base, now, true);
  EXPECT_THAT(changes.obstacles, IsEmpty());
  const BlocksChange& blocks = Decode(changes).blocks;
  EXPECT_NEAR(blocks.overlap.difference(), truth, 0.05 * truth);
  EXPECT_FALSE(blocks.work.IsBeyondNoise());
  EXPECT_THAT(CompareVerdict(changes),
              testing::AllOf(testing::StartsWith("from sglang to vllm: decode step"),
                             testing::HasSubstr("of overlap won in experts-up and shared-expert")));
  EXPECT_THAT(Decode(changes).kernels, IsEmpty());
}

TEST(CompareKnownRuns, WaterfallsAddUpAndARunDoesNotDifferFromItself) {
  std::vector<RunAnalysis> run;
  run.push_back(AnalysisOfKnown(*MakeKnownRun(KnownOptions(1, 200, 2))));
  const RunChanges same = CompareRuns(run, run);
  EXPECT_THAT(MetricsBeyondNoise(same), IsEmpty());
  EXPECT_THAT(same.remarks, Contains("both sides are the same traces"));
  for (const MetricChange& metric : MetricsOf(same)) EXPECT_EQ(metric.change.difference(), 0);
  EXPECT_THAT(same.obstacles, IsEmpty());
  run.push_back(AnalysisOfKnown(*MakeKnownRun(KnownOptions(2, 200, 2))));
  EXPECT_THAT(CompareRuns(run, {run[1], run[0]}).obstacles, IsEmpty());
  for (const RunChanges& shared : {CompareRuns(run, {run[1]}), CompareRuns({run[1]}, run)}) {
    ASSERT_EQ(shared.obstacles.size(), 1u);
    EXPECT_EQ(shared.obstacles[0].id, "shared-runs");
    EXPECT_EQ(shared.obstacles[0].text, run[1].traces[0].path +
                                            " is on both sides, which hides a part of the "
                                            "difference");
  }
  for (const char* change : {"eager", "requests:8", "late-rank@1:300us"}) {
    const RunChanges changes =
        CompareKnown(KnownOptions(3, 200, 2), KnownOptions(4, 200, 2, change));
    for (const PhaseChange& phase : changes.phases) {
      if (!phase.cannot_tell.empty()) continue;
      const Waterfall fall = WaterfallOf(phase);
      int64_t at = fall.base;
      for (const Waterfall::Bar& bar : fall.bars) at += bar.ns;
      EXPECT_EQ(at, fall.now) << change;
    }
  }
}

TEST(CompareKnownRuns, AWrongPairingIsNotCompared) {
  const auto obstacles = [](const RunChanges& changes) {
    std::vector<std::string> ids;
    for (const Obstacle& obstacle : changes.obstacles) ids.push_back(obstacle.id);
    return ids;
  };
  const KnownRunOptions base = KnownOptions(1, 120);
  EXPECT_THAT(obstacles(CompareKnown(base, KnownOptions(2, 120, 1, "layers:5"))),
              Contains("other-layers"));
  EXPECT_THAT(obstacles(CompareKnown(base, KnownOptions(2, 120, 2))), Contains("other-ranks"));
  KnownRunOptions sglang = KnownOptions(2, 120);
  sglang.engine = simulate::SimulatedEngine::kSglang;
  EXPECT_THAT(obstacles(CompareKnown(base, sglang)), Contains("other-engine"));
  // One side decodes, the other one only begins.
  KnownRunOptions short_run = KnownOptions(2, 1);
  EXPECT_THAT(obstacles(CompareKnown(base, short_run)), Not(IsEmpty()));
}

// Each part and each kernel is slower or faster by some 3 % in this run.
RunAnalysis WithNoiseOfItsOwn(RunAnalysis run, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> factor(1, 0.03);
  for (TraceAnalysis& trace : run.traces) {
    StepProfile& profile = trace.step_profile;
    const auto scale = [](DurationNs& time, double by) {
      time.ns = std::llround(static_cast<double>(time.ns) * by);
    };
    std::vector<double> of_parts(profile.parts.size()), of_kernels(trace.kernels.rows.size());
    for (double& one : of_parts) one = factor(random);
    for (double& one : of_kernels) one = factor(random);
    for (StepProfile::Row& row : profile.rows) {
      DurationNs sum;
      for (size_t part = 0; part < row.ns.size(); ++part) {
        scale(row.ns[part], of_parts[part]);
        sum += row.ns[part];
      }
      row.when.end = row.when.start + sum;
    }
    for (StepProfile::Batch& batch : profile.batches) {
      for (StepProfile::KernelUse& use : batch.kernels) scale(use.total, of_kernels[use.kernel]);
    }
  }
  return run;
}

TEST(CompareKnownRuns, RunsWithNoiseOfTheirOwnInEachFigureShowNoDifference) {
  std::vector<RunAnalysis> all;
  for (uint64_t seed = 1; seed <= 16; ++seed)
    all.push_back(WithNoiseOfItsOwn(AnalysisOfKnown(*MakeKnownRun(KnownOptions(seed, 100))), seed));
  std::mt19937_64 random(1);
  int with_any = 0;
  for (int pair = 0; pair < kPairsOfSeveralRuns; ++pair) {
    std::ranges::shuffle(all, random);
    const RunChanges changes = CompareRuns({all[0], all[1], all[2]}, {all[3], all[4], all[5]});
    with_any += MetricsBeyondNoise(changes).empty() ? 0 : 1;
  }
  EXPECT_LE(20 * with_any, kPairsOfSeveralRuns);  // 5 %
}

TEST(CompareKnownRuns, ARunWithoutTheBatchesOfTheOthersSaysNothingOfTheirNoise) {
  std::vector<RunAnalysis> base, now;
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    base.push_back(AnalysisOfKnown(*MakeKnownRun(KnownOptions(seed, 120))));
    now.push_back(
        AnalysisOfKnown(*MakeKnownRun(KnownOptions(seed + 3, 120, 1, "host-late:200us"))));
  }
  const RunAnalysis third = std::move(now.back());
  now.pop_back();
  const Change of_two = Decode(CompareRuns(base, now)).step;
  EXPECT_TRUE(of_two.IsBeyondNoise());
  now.push_back(third);
  TraceAnalysis& trace = now.back().traces.front();
  for (Step& step : trace.steps.steps) {
    if (step.label.phase == Phase::kDecode) step.label.generation_requests = 250;
  }
  for (StepProfile::Batch& batch : trace.step_profile.batches) {
    if (batch.batch.phase == Phase::kDecode) batch.batch = {Phase::kDecode, 256};
  }
  const Change of_three = Decode(CompareRuns(base, now)).step;
  EXPECT_TRUE(of_three.IsBeyondNoise());
  EXPECT_NEAR(of_three.difference(), of_two.difference(), 1);
  EXPECT_LT(*of_three.half_width, 1.5 * *of_two.half_width);
}

TEST(CompareKnownRuns, WithSeveralRunsTheBoundsHoldHowMuchRunsDiffer) {
  const auto runs = [](uint64_t first, const std::string& change) {
    std::vector<RunAnalysis> all;
    for (uint64_t seed = first; seed < first + 4; ++seed) {
      KnownRunOptions options = KnownOptions(seed, 120, 1, change);
      options.noise.run = 0.05;
      all.push_back(AnalysisOfKnown(*MakeKnownRun(options)));
    }
    return all;
  };
  const RunChanges same = CompareRuns(runs(1, ""), runs(5, ""));
  EXPECT_FALSE(Decode(same).step.IsBeyondNoise());
  EXPECT_GT(*Decode(same).step.relative_half_width(), 0.03);
  EXPECT_TRUE(Decode(CompareRuns(runs(1, ""), runs(5, "host-late:600us"))).step.IsBeyondNoise());
  // Now only one kernel differs as much from run to run.
  const auto two = [](uint64_t first, const char* one, const char* other) {
    std::vector<RunAnalysis> all;
    all.push_back(AnalysisOfKnown(*MakeKnownRun(KnownOptions(first, 120, 1, one))));
    all.push_back(AnalysisOfKnown(*MakeKnownRun(KnownOptions(first + 1, 120, 1, other))));
    return all;
  };
  const RunChanges apart = CompareRuns(two(1, "", "slower@attention:40%"),
                                       two(3, "slower@attention:20%", "slower@attention:60%"));
  EXPECT_THAT(KernelsThatAre(KernelChange::Kind::kSlower, Decode(apart)), IsEmpty());
  const RunChanges slower = CompareRuns(runs(1, ""), runs(5, "slower@attention:60%"));
  EXPECT_THAT(KernelsThatAre(KernelChange::Kind::kSlower, Decode(slower)), testing::SizeIs(1));
}

}  // namespace
}  // namespace tacho
