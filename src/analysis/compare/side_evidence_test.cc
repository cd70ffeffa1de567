#include "analysis/compare/side_evidence.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/compare/compare_runs.h"
#include "analysis/compare/step_samples.h"

namespace tacho {
namespace {

// A run of one trace with a device that was busy for 6 of 10 us, and idle for one cause.
RunAnalysis OneTrace(IdleCause cause = IdleCause::kHostLate) {
  RunAnalysis run;
  TraceAnalysis& trace = run.traces.emplace_back();
  trace.facts.role = TraceRole::kWorker;
  DeviceTime& device = trace.devices.emplace_back();
  device.device = "0";
  device.window = {{0}, {10'000}};
  device.busy = device.compute = device.kernel_sum = {6'000};
  device.idle = {4'000};
  trace.idle.causes.push_back({cause, {4'000}, 1, ""});
  return run;
}

RunAnalysis Lossy(uint64_t calls, uint64_t lost, LossPattern pattern) {
  RunAnalysis run = OneTrace();
  LostWork& work = run.traces[0].integrity.lost;
  work.calls = calls + 5;
  work.lost_calls = work.lost_events = lost;
  work.pattern = pattern;
  work.apis = {{"cudaMemcpyAsync", calls, lost}};
  run.traces[0].notes.Add(work.at_edges() ? NoteId::kLostAtEdge : NoteId::kLostGpuWork, "", lost);
  return run;
}

KernelRow CalledOften(std::string name, uint64_t calls) {
  KernelRow row;
  row.name = std::move(name);
  row.category = "gemm.dense";
  row.stats.count = calls;
  row.stats.total = {static_cast<int64_t>(calls) * 10};
  return row;
}

std::vector<std::string> PartsOf(const RunChanges& changes) {
  std::vector<std::string> parts;
  for (const NamedChange& part : changes.whole->parts) parts.push_back(part.name);
  std::ranges::sort(parts);
  return parts;
}

TEST(LossText, CountsTheCallsOfOneApiOrOfAll) {
  RunAnalysis run = Lossy(161, 3, LossPattern::kStart);
  const SideEvidence none, one = EvidenceOf({run});
  EXPECT_EQ(LossText(none, none), "");
  EXPECT_EQ(
      LossText(none, one),
      "the new run lost GPU work of 3 of 161 cudaMemcpyAsync calls, the first of the recording");
  run.traces[0].integrity.lost.apis.push_back({"cudaLaunchKernel", 900, 4});
  run.traces[0].integrity.lost.calls = 1061;
  run.traces[0].integrity.lost.pattern = LossPattern::kSpread;
  EXPECT_EQ(LossText(EvidenceOf({run}), one),
            "the base lost GPU work of 7 of 1061 calls, and the new run GPU work of 3 of 161 "
            "cudaMemcpyAsync calls, the first of the recording");
  run.traces[0].integrity.lost.partial_graphs = 7;
  EXPECT_EQ(LossText(EvidenceOf({run}), none),
            "the base lost part of the GPU work of 7 of 1061 calls");
}

TEST(SideEvidence, CountsStepsWithoutDeviceTime) {
  const auto with_steps = [](RunAnalysis run, bool lost_work) {
    for (int i = 0; i < 4; ++i) {
      Step& step = run.traces[0].steps.steps.emplace_back();
      step.label.phase = Phase::kDecode;
      step.lost_work = lost_work;
    }
    return run;
  };
  const RunAnalysis lossy = with_steps(Lossy(100, 14, LossPattern::kSpread), true);
  const RunAnalysis whole = with_steps(OneTrace(), false);
  RunAnalysis rowless = whole;
  rowless.traces[0].devices.clear();
  EXPECT_EQ(EvidenceOf({whole}).UntimedSteps(Phase::kDecode), "");
  EXPECT_EQ(EvidenceOf({lossy, whole}).UntimedSteps(Phase::kDecode), "4 of its 8 decode steps");
  EXPECT_EQ(EvidenceOf({lossy, rowless}).UntimedSteps(Phase::kDecode), "8 of its 8 decode steps");
}

// The other rank launched as much and lost nothing.
TEST(LossText, CountsTheCallsOfAllRanks) {
  RunAnalysis run = Lossy(100, 14, LossPattern::kSpread);
  run.traces.push_back(Lossy(100, 0, LossPattern::kNone).traces[0]);
  run.traces[1].integrity.lost.apis.clear();
  EXPECT_EQ(LossText({}, EvidenceOf({run})), "the new run lost GPU work of 14 of 210 calls");
}

TEST(CompareRuns, LostCallsAreNoOtherNumberOfLayers) {
  RunAnalysis whole = OneTrace();
  RunAnalysis lossy = Lossy(161, 80, LossPattern::kStart);
  for (const char* name : {"a", "b", "c"}) {
    whole.traces[0].kernels.rows.push_back(CalledOften(name, 36));
    lossy.traces[0].kernels.rows.push_back(CalledOften(name, 21));
  }
  EXPECT_EQ(CompareRuns({whole}, {lossy}).obstacles.front().text,
            "all of the recording: the new run lost GPU work of 80 of 161 cudaMemcpyAsync calls, "
            "the first "
            "of the recording: its figures are of the rest of the recording, so kernels cannot be "
            "counted against each other");
  const RunChanges back = CompareRuns({lossy}, {whole});
  ASSERT_EQ(back.obstacles.size(), 1u);
  EXPECT_EQ(back.obstacles[0].id, "lost-gpu-work");
  lossy.traces[0].integrity.lost = {};
  lossy.traces[0].notes = {};
  EXPECT_EQ(CompareRuns({whole}, {lossy}).obstacles.front().id, "other-layers");
}

// A recording that ends in a deep queue has fewer pieces of work than launches, but nothing is
// lost.
TEST(CompareRuns, CutOffCallsAreNotFewerCalls) {
  RunAnalysis whole = OneTrace(), cut = OneTrace();
  whole.traces[0].kernels.rows = {CalledOften("gemm", 400)};
  cut.traces[0].kernels.rows = {CalledOften("gemm", 240)};
  for (RunAnalysis* run : {&whole, &cut}) {
    run->traces[0].integrity.lost.calls = run == &whole ? 400 : 240;
    run->traces[0].launches.gpu_events = run->traces[0].kernels.rows[0].stats.count;
    run->traces[0].steps.steps.resize(10);
    run->traces[0].step_profile.rows.resize(1);
  }
  const auto work_of_a_step = [](const RunChanges& changes) {
    return std::ranges::count(changes.launches, "GPU work", &NamedChange::name);
  };
  EXPECT_EQ(work_of_a_step(CompareRuns({whole}, {cut})), 1);
  cut.traces[0].integrity.lost.cut_off = 160;
  EXPECT_EQ(work_of_a_step(CompareRuns({whole}, {cut})), 0);
  for (RunAnalysis* run : {&whole, &cut}) run->traces[0].step_profile.rows.clear();
  const RunChanges changes = CompareRuns({whole}, {cut});
  ASSERT_EQ(changes.obstacles.size(), 1u);
  EXPECT_EQ(changes.obstacles[0].text,
            "all of the recording: new ends before the work of its last 160 calls: its figures are "
            "of the rest of the recording, so kernels cannot be counted against each other");
}

TEST(CompareRuns, WithoutACommonClockIdleTimeHasNoCauses) {
  RunAnalysis off = OneTrace(IdleCause::kUnknown);
  DeviceClock& clock = off.traces[0].integrity.clocks.emplace_back();
  clock.state = DeviceClock::State::kOff;
  const RunChanges changes = CompareRuns({OneTrace()}, {off});
  EXPECT_EQ(changes.obstacles.size(), 0u);
  EXPECT_EQ(PartsOf(changes), (std::vector<std::string>{"compute", "idle"}));
  EXPECT_EQ(changes.whole->parts[1].change.difference(), 0);
  EXPECT_EQ(changes.remarks.front(),
            "causes of idle time: not compared, new's device clock is off against the host's");
  clock.state = DeviceClock::State::kDrifts;
  EXPECT_EQ(CompareRuns({off}, {off}).WhyNoIdleCauses(),
            "base's and new's device clocks drift against the host's");
  EXPECT_EQ(PartsOf(CompareRuns({OneTrace()}, {OneTrace()})),
            (std::vector<std::string>{"compute", "idle.host-late"}));
}

// A launch that is not in the trace is a cause like any other.
TEST(CompareRuns, AnUnknownCauseHidesTheOthersOnlyWhereWorkWasLost) {
  RunAnalysis unknown = OneTrace(IdleCause::kUnknown);
  EXPECT_EQ(CompareRuns({OneTrace()}, {unknown}).WhyNoIdleCauses(), "");
  unknown.traces[0].integrity.lost.in_doubt = {10};
  EXPECT_EQ(CompareRuns({OneTrace()}, {unknown}).WhyNoIdleCauses(), "");  // cut off by the end
  unknown.traces[0].integrity.lost.lost_events = 1;
  EXPECT_EQ(CompareRuns({OneTrace()}, {unknown}).WhyNoIdleCauses(),
            "GPU work that the new run lost may have run in idle time");
}

TEST(CompareRuns, WhereIdleTimeIsUnknownOnlyComputeIsAPart) {
  RunAnalysis lossy = Lossy(400, 300, LossPattern::kSpread);
  lossy.traces[0].devices[0].whole = false;
  lossy.traces[0].idle = {};
  lossy.traces[0].idle.known = false;
  const RunChanges changes = CompareRuns({OneTrace()}, {lossy});
  EXPECT_EQ(PartsOf(changes), (std::vector<std::string>{"compute", "not compute"}));
  EXPECT_EQ(changes.obstacles.front().text,
            "all of the recording: the new run lost GPU work of 300 of 400 cudaMemcpyAsync calls: "
            "its sums "
            "are lower bounds, so kernels cannot be counted against each other");
}

TEST(CompareRuns, CountsTheStepsThatLackWork) {
  RunAnalysis lossy = Lossy(40, 35, LossPattern::kAllButOneIn);
  lossy.traces[0].idle.known = false;
  for (int i = 0; i < 40; ++i) {
    Step& step = lossy.traces[0].steps.steps.emplace_back();
    step.label.phase = Phase::kDecode;
    step.lost_work = i % 8 != 0;
  }
  EXPECT_EQ(
      CompareRuns({lossy}, {lossy}).obstacles.front().text,
      "all of the recording: base and new each lack the device time of 35 of its 40 decode steps: "
      "record them again");
}

TEST(CompareRuns, SaysWhyASideHasNoWorkOfADevice) {
  RunAnalysis mixed = OneTrace();
  mixed.traces[0].devices.clear();
  mixed.traces[0].idle = {};
  EXPECT_EQ(CompareRuns({OneTrace()}, {mixed}).obstacles.front().text,
            "new has no work of a device");
  mixed.traces[0].notes.Add(NoteId::kMixedRanks, "");
  const RunChanges changes = CompareRuns({mixed}, {OneTrace()});
  EXPECT_EQ(changes.obstacles.front().text,
            "base holds several ranks in one file, and nothing tells whose work is whose: compare "
            "the ranks' own files");
  EXPECT_TRUE(changes.NothingCommon());
}

// Ranks that launched nothing have no device times either, but nothing is missing.
TEST(CompareRuns, SaysThatARankHasNoTimes) {
  RunAnalysis one_idle = OneTrace();
  one_idle.traces.push_back(one_idle.traces[0]);
  const RunAnalysis whole = one_idle;
  one_idle.traces[1].devices.clear();
  EXPECT_EQ(CompareRuns({whole}, {one_idle}).WhyUntimed(), "");
  RunAnalysis rowless = one_idle;
  rowless.traces[1].notes.Add(NoteId::kNoGpuEvents, "");
  const RunChanges changes = CompareRuns({whole}, {rowless});
  const std::string why = "1 of 2 ranks of new has no times of GPU work";
  EXPECT_EQ(changes.WhyUntimed(), why);
  EXPECT_EQ(changes.WhyDamaged(), why) << "gates are inconclusive";
  EXPECT_EQ(changes.WhyIncomplete(), why);
  RunAnalysis refused = one_idle;
  refused.traces[1].notes.Add(NoteId::kTimesRefused, "");
  EXPECT_EQ(CompareRuns({whole}, {refused}).WhyDamaged(), why);
  EXPECT_EQ(CompareRuns({whole}, {refused}).WhyIncomplete(), why) << "counts hold";
  rowless.traces[0] = rowless.traces[1];
  EXPECT_EQ(CompareRuns({whole}, {rowless}).WhyUntimed(), "") << "nothing is compared";
}

TEST(NumberParts, WithoutCausesIdleTimeIsOnePart) {
  RunAnalysis run = OneTrace();
  run.traces[0].step_profile.parts = {"gemm", "idle.host-late", "idle.queued"};
  run.traces[0].steps.steps.emplace_back().label.phase = Phase::kDecode;
  run.traces[0].step_profile.rows.push_back({0, 0, {{0}, {6}}, {{1}, {2}, {3}}});
  const SideRanks ranks = {RanksOf(run)};
  EXPECT_EQ(NumberParts(ranks, {}, true).size(), 3u);
  const PartNumbers parts = NumberParts(ranks, {}, false);
  EXPECT_EQ(parts, (PartNumbers{{"gemm", 0}, {"idle", 1}}));
  const SideSamples samples = SamplesOf(ranks, Phase::kDecode, parts);
  EXPECT_EQ(samples.samples.at(0).ns, (std::vector<double>{1, 5, 6}));
}

}  // namespace
}  // namespace tacho
