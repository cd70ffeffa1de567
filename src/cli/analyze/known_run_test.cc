// The truth of simulated runs is what the analyses find in their traces. The test is here because
// it needs the simulator, the readers and the analyses.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "cli/analyze/known_run_for_test.h"
#include "simulate/known/step_parts.h"

namespace tacho {
namespace {

using simulate::KnownRun;
using simulate::KnownRunOptions;
using simulate::PhaseParts;
using simulate::RankParts;

// A change that the tests make, and the number of ranks in its run.
struct KnownCase {
  const char* change;
  int64_t ranks;
};
constexpr KnownCase kKnownCases[] = {{"", 1},
                                     {"slower@attention:5%", 1},
                                     {"fused@rope", 1},
                                     {"fused@all-reduce", 2},
                                     {"renamed@gate-up", 1},
                                     {"more@activation:1", 1},
                                     {"comm-slower:30%", 2},
                                     {"eager", 1},
                                     {"late-rank@1:300us", 2},
                                     {"host-late:200us", 1},
                                     {"scheduler-late:200us", 1},
                                     {"requests:64", 1},
                                     {"prompts:512", 1},
                                     {"model:32b", 1},
                                     {"layers:5", 1}};

KnownRunOptions OptionsOfCase(const KnownCase& known) {
  KnownRunOptions options;
  options.steps = 30;
  options.ranks = known.ranks;
  if (*known.change != 0) options.changes = {*simulate::ParseChange(known.change)};
  return options;
}

// The parts of the steps of a trace, measured by the analyses: device time in the window of each
// step, periods from the steps, the rest from whole tables.
RankParts MeasuredParts(const Trace& trace) {
  RankParts parts;
  const TraceAnalysis whole = AnalyzeTrace(trace, KnownRunRules());
  for (const Step& step : whole.steps.steps) {
    if (!step.period) continue;
    PhaseParts& phase = parts.phases[std::string(PhaseName(step.label.phase))];
    ++phase.steps;
    phase.step_ns += step.period->ns;
    Scope scope;
    scope.window = Interval{step.when.start, step.when.start + *step.period};
    const TraceAnalysis in_step = AnalyzeTrace(
        trace, KnownRunRules(), {.scope = scope, .in_flight = {}, .key_averages = false});
    const DeviceTime& device = in_step.devices.at(0);
    phase.compute_ns += device.compute.ns;
    phase.exposed_comm_ns += device.exposed_comm.ns;
    phase.exposed_copy_ns += device.exposed_copy.ns;
    phase.idle_ns += device.idle.ns;
    for (const KernelRow& row : in_step.kernels.rows) {
      PhaseParts::Kernel& kernel = phase.kernels[row.name];
      kernel.count += static_cast<int64_t>(row.stats.count);
      kernel.total_ns += row.stats.total.ns;
    }
    for (const StreamTime& stream : device.streams) {
      phase.comm_ns += stream.by_kind[static_cast<size_t>(WorkKind::kCommunication)].ns;
      phase.copy_ns += stream.by_kind[static_cast<size_t>(WorkKind::kCopy)].ns;
      phase.memset_ns += stream.by_kind[static_cast<size_t>(WorkKind::kMemset)].ns;
    }
    phase.launches += static_cast<int64_t>(in_step.launches.delay.count);
  }
  return parts;
}

void ExpectSame(const RankParts& measured, const RankParts& truth) {
  ASSERT_EQ(measured.phases.size(), truth.phases.size());
  for (const auto& [phase, expected] : truth.phases) {
    SCOPED_TRACE(phase);
    const PhaseParts& got = measured.phases.at(phase);
    EXPECT_EQ(got.steps, expected.steps);
    EXPECT_EQ(got.step_ns, expected.step_ns);
    EXPECT_EQ(got.compute_ns, expected.compute_ns);
    EXPECT_EQ(got.exposed_comm_ns, expected.exposed_comm_ns);
    EXPECT_EQ(got.exposed_copy_ns, expected.exposed_copy_ns);
    EXPECT_EQ(got.idle_ns, expected.idle_ns);
    EXPECT_EQ(got.comm_ns, expected.comm_ns);
    EXPECT_EQ(got.copy_ns, expected.copy_ns);
    EXPECT_EQ(got.memset_ns, expected.memset_ns);
    EXPECT_EQ(got.launches, expected.launches);
    ASSERT_EQ(got.kernels.size(), expected.kernels.size());
    for (const auto& [name, kernel] : expected.kernels) {
      EXPECT_EQ(got.kernels.at(name).count, kernel.count) << name;
      EXPECT_EQ(got.kernels.at(name).total_ns, kernel.total_ns) << name;
    }
  }
}

void ExpectFound(const KnownRunOptions& options) {
  const KnownRun run = *MakeKnownRun(options);
  const std::vector<RankParts> truth = PartsOf(run);
  for (int64_t rank = 0; rank < options.ranks; ++rank) {
    SCOPED_TRACE(rank);
    ExpectSame(MeasuredParts(ReadKnownTrace(run, rank)), truth[static_cast<size_t>(rank)]);
  }
}

// The truth is found to the nanosecond, with each change and without it; so the differences are,
// too.
TEST(KnownRunTruth, IsWhatTheAnalysesFind) {
  for (const KnownCase& known : kKnownCases) {
    SCOPED_TRACE(known.change);
    ExpectFound(OptionsOfCase(known));
  }
  KnownRunOptions sglang = OptionsOfCase({"late-rank@1:300us", 2});
  sglang.engine = simulate::SimulatedEngine::kSglang;
  ExpectFound(sglang);
}

TEST(KnownRunTruth, TracesAreWholeAndAllKernelsHaveACategory) {
  for (const KnownCase& known : kKnownCases) {
    SCOPED_TRACE(known.change);
    const RunAnalysis analysis = AnalyzeKnownRun(*MakeKnownRun(OptionsOfCase(known)));
    EXPECT_TRUE(analysis.failed.empty());
    for (const TraceAnalysis& trace : analysis.traces) {
      EXPECT_EQ(trace.kernels.coverage, 1);
      EXPECT_EQ(trace.launches.without_launch, 0U);
      for (const Note& note : trace.notes.list())
        EXPECT_EQ(KindOf(note.id).severity, Severity::kInfo) << KindOf(note.id).id;
    }
  }
}

// The periods of the decode steps of rank 0.
std::vector<double> DecodePeriods(const KnownRun& run) {
  const Trace trace = ReadKnownTrace(run, 0);
  std::vector<double> periods;
  for (const Step& step : FindSteps(trace).steps) {
    if (step.period && step.label.phase == Phase::kDecode)
      periods.push_back(static_cast<double>(step.period->ns));
  }
  return periods;
}

// If each run has noise of its own, the mean of the stepwise differences is the true difference
// within twice its standard error, in all but a few of 20 pairs.
TEST(KnownRunTruth, IsTheDifferenceOfRunsWithOtherNoise) {
  int within = 0;
  constexpr int kPairs = 20;
  for (uint64_t pair = 0; pair < kPairs; ++pair) {
    KnownRunOptions base;
    base.steps = 100;
    base.seed = 2 * pair + 1;
    KnownRunOptions changed = base;
    changed.seed = 2 * pair + 2;
    const char* change = pair % 2 == 0 ? "slower@gate-up:10%" : "host-late:100us";
    changed.changes = {*simulate::ParseChange(change)};
    const KnownRun run = *MakeKnownRun(changed);
    std::vector<double> differences = DecodePeriods(run);
    const std::vector<double> before = DecodePeriods(*MakeKnownRun(base));
    const auto count = static_cast<double>(differences.size());
    ASSERT_EQ(differences.size(), before.size());  // the load is the same
    double mean = 0, squares = 0;
    for (size_t i = 0; i < before.size(); ++i) mean += (differences[i] -= before[i]) / count;
    for (const double difference : differences) squares += std::pow(difference - mean, 2);
    const double error = std::sqrt(squares / (count - 1) / count);
    const PhaseParts with = PartsOf(run)[0].phases["decode"];
    const PhaseParts without = PartsOf(*WithoutChanges(changed))[0].phases["decode"];
    EXPECT_EQ(static_cast<double>(with.steps), count);
    const double truth = static_cast<double>(with.step_ns - without.step_ns) / count;
    EXPECT_GT(truth, 10'000) << change;
    within += std::abs(mean - truth) < 2 * error ? 1 : 0;
  }
  EXPECT_GE(within, kPairs - 3);
}

}  // namespace
}  // namespace tacho
