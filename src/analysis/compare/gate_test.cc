#include "analysis/compare/gate.h"

#include <gmock/gmock.h>

namespace tacho {
namespace {

using Outcome = GateResult::Outcome;
using testing::HasSubstr;

std::vector<std::string> KnownNames() { return MetricNames({"gemm.dense", "comm.collective"}); }

ChangeGate Parsed(std::string_view text) {
  const auto gate = ParseGate(text, KnownNames());
  EXPECT_TRUE(gate) << (gate ? "" : gate.error().message);
  return gate.value_or(ChangeGate{});
}
std::string Refusal(std::string_view text) {
  const auto gate = ParseGate(text, KnownNames());
  return gate ? "taken" : gate.error().message;
}

// Decode steps of 20 ms that grow by 2 % +- 1 %.
RunChanges ChangesForTest() {
  RunChanges changes;
  PhaseChange& decode = changes.phases.emplace_back();
  decode.phase = Phase::kDecode;
  decode.step = decode.mean = {20e6, 20.4e6, 0.2e6};
  decode.p50 = Change{20e6, 20.4e6, 0.2e6};
  decode.mix = {0, 0, 0.1e6};
  decode.parts = {{"gemm.dense", {10e6, 10.3e6, 0.1e6}},
                  {"idle.host-late", {1e6, 1.1e6, 0.05e6}},
                  {"idle.queued", {2e6, 2e6, 0.05e6}}};
  decode.kernels.push_back({"k", "gemm.dense", KernelChange::Kind::kNew, {0, 1e6, 1}, 0, 1});
  PhaseChange& prefill = changes.phases.emplace_back();
  prefill.phase = Phase::kPrefill;
  prefill.cannot_tell = "too few";
  changes.load = {{"throughput", {1000, 950, std::nullopt}}};
  return changes;
}

TEST(Judge, SumsOfWhatIsIncompleteAreInconclusive) {
  RunChanges changes = ChangesForTest();
  changes.now.lost_data = true;
  EXPECT_EQ(Judge({Parsed("decode.step>+90%")}, changes).front().outcome, Outcome::kPassed)
      << "steps before a cut are whole";
  changes.now.has_holes = true;
  const GateResult damaged = Judge({Parsed("decode.step>+90%")}, changes).front();
  EXPECT_EQ(damaged.outcome, Outcome::kInconclusive);
  EXPECT_EQ(damaged.why_none, "new is damaged, so its steps may lack work");
  changes.phases.clear();
  changes.whole.emplace();
  const auto results = Judge({Parsed("window>+90%")}, changes);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].outcome, Outcome::kInconclusive);
  EXPECT_EQ(results[0].why_none, "new is incomplete, so its sums are lower bounds");
}

TEST(Judge, WithoutCausesIdleTimeIsJudgedAlone) {
  RunChanges changes = ChangesForTest();
  changes.phases[0].parts = {{"gemm.dense", {10e6, 10.3e6, 0.1e6}}, {"idle", {3e6, 3.1e6, 0.1e6}}};
  changes.now.evidence.no_causes = SideEvidence::NoCauses::kClockOff;
  const GateResult cause = Judge({Parsed("idle.host-late>+90%")}, changes).front();
  EXPECT_EQ(cause.outcome, Outcome::kInconclusive);
  EXPECT_EQ(cause.why_none, "new's device clock is off against the host's");
  EXPECT_EQ(Judge({Parsed("decode.idle>+90%")}, changes).front().outcome, Outcome::kPassed);
  EXPECT_EQ(Judge({Parsed("decode.gemm>+90%")}, changes).front().outcome, Outcome::kPassed);
  changes.phases.clear();
  changes.whole.emplace();
  EXPECT_EQ(Judge({Parsed("comm>+90%")}, changes).front().outcome, Outcome::kPassed);
  changes.now.evidence.idle_known = false;
  EXPECT_EQ(Judge({Parsed("comm>+90%")}, changes).front().outcome, Outcome::kInconclusive);
}

std::vector<std::pair<std::string, Outcome>> Judged(std::string_view text) {
  std::vector<std::pair<std::string, Outcome>> outcomes;
  for (const GateResult& result : Judge({Parsed(text)}, ChangesForTest()))
    outcomes.emplace_back(result.metric, result.outcome);
  return outcomes;
}
Outcome Only(std::string_view text) {
  const auto outcomes = Judged(text);
  EXPECT_EQ(outcomes.size(), 1u) << text;
  return outcomes.at(0).second;
}

TEST(ParseGate, TakesMetricsSignsAndUnits) {
  const ChangeGate share = Parsed("decode.step.p50 > +3%");
  EXPECT_EQ(share.metric, "decode.step.p50");
  EXPECT_TRUE(share.above && share.percent && share.relative_to_base);
  EXPECT_DOUBLE_EQ(share.limit, 0.03);
  const ChangeGate time = Parsed("idle.host-late>+50us");
  EXPECT_DOUBLE_EQ(time.limit, 50e3);
  EXPECT_FALSE(time.percent);
  const ChangeGate itself = Parsed("decode.step>20ms");
  EXPECT_FALSE(itself.relative_to_base);
  EXPECT_DOUBLE_EQ(itself.limit, 20e6);
  const ChangeGate less = Parsed("load.throughput<-2.5%");
  EXPECT_FALSE(less.above);
  EXPECT_DOUBLE_EQ(less.limit, -0.025);
  EXPECT_DOUBLE_EQ(Parsed("decode.step > +3 %").limit, 0.03);
  EXPECT_EQ(Parsed("comm>+1 s").limit, 1e9);
  EXPECT_EQ(Parsed("kernels.new").limit, 0);
  EXPECT_EQ(Parsed("decode.kernels.slower>3").limit, 3);
  EXPECT_EQ(Parsed("comm>+1s").limit, 1e9);
}

TEST(ParseGate, RefusesWhatItDoesNotKnow) {
  EXPECT_THAT(Refusal("decode.gem>+3%"), HasSubstr("did you mean decode.gemm?"));
  EXPECT_THAT(Refusal("decode.stepp>+3%"), HasSubstr("did you mean decode.step?"));
  EXPECT_THAT(Refusal("dekode.step>+3%"), HasSubstr("did you mean decode.step?"));
  EXPECT_THAT(Refusal("throughput<-2%"), HasSubstr("did you mean load.throughput?"));
  EXPECT_THAT(Refusal("ttft>+2%"), HasSubstr("did you mean load.ttft.p50?"));
  EXPECT_THAT(Refusal("decode.p50>+2%"), HasSubstr("did you mean decode.step.p50?"));
  EXPECT_THAT(Refusal("qqqqqq>+2%"), HasSubstr("--csv lists them"));
  EXPECT_THAT(Refusal("load.ttft.p51>+3%"), HasSubstr("did you mean load.ttft.p5"));
  EXPECT_THAT(Refusal(""), HasSubstr("names no metric"));
  EXPECT_THAT(Refusal(">3"), HasSubstr("names no metric"));
  EXPECT_THAT(Refusal("step"), HasSubstr("'step>+3%'"));
  EXPECT_THAT(Refusal("step>+3"), HasSubstr("a time needs a unit"));
  EXPECT_THAT(Refusal("step>3%"), HasSubstr("needs a sign"));
  EXPECT_THAT(Refusal("step>+3 %%"), HasSubstr("'%%' is not a unit"));
  EXPECT_THAT(Refusal("step>+"), HasSubstr("expected a number"));
  EXPECT_THAT(Refusal("step>+1.2.3%"), HasSubstr("expected a number"));
  EXPECT_THAT(Refusal("step>>+3%"), HasSubstr("expected a number"));
  EXPECT_THAT(Refusal("kernels.new>3us"), HasSubstr("is not a time"));
  EXPECT_THAT(Refusal(std::string(300, 'x')), HasSubstr("too long"));
  for (const auto& [text, meant] : {std::pair{"decode.step<+3%", "decode.step>+3%"},
                                    {"decode.step < 20ms", "decode.step>20ms"},
                                    {"kernels.slower<2", "kernels.slower>2"},
                                    {"load.ttft.p50<+0%", "load.ttft.p50>+0%"},
                                    {"load.throughput>-2%", "load.throughput<-2%"},
                                    {"load.requests>100", "load.requests<100"}})
    EXPECT_THAT(Refusal(text), HasSubstr(std::string("did you mean ") + meant + "?"));
  for (const char* const improves :
       {"decode.step>-3%", "load.throughput<+2%", "decode.step<-3%", "kernels.faster<1",
        "decode.kernels.fewer-calls<1", "kernels.gone<1"})
    EXPECT_EQ(Parsed(improves).text, improves);
}

TEST(JudgeGates, PassOnlyIfTheBoundsAreWithinTheLimit) {
  EXPECT_EQ(Only("decode.step>+0.5%"), Outcome::kBroken);
  EXPECT_EQ(Only("decode.step>+2%"), Outcome::kInconclusive);
  EXPECT_EQ(Only("decode.step>+2.5%"), Outcome::kInconclusive);
  EXPECT_EQ(Only("decode.step>+3.5%"), Outcome::kPassed);
  EXPECT_EQ(Only("decode.step>20.1ms"), Outcome::kBroken);
  EXPECT_EQ(Only("decode.step>21ms"), Outcome::kPassed);
  EXPECT_EQ(Only("decode.step<-1%"), Outcome::kPassed);
}

TEST(JudgeGates, GroupsAddUpAndAbsentPartsDidNotChange) {
  // 3.0 -> 3.1 ms +- 0.1 ms
  EXPECT_EQ(Only("decode.idle>+7%"), Outcome::kPassed);
  EXPECT_EQ(Only("decode.idle>+1%"), Outcome::kInconclusive);
  EXPECT_EQ(Only("decode.idle.host-late>+4%"), Outcome::kBroken);
  EXPECT_EQ(Only("decode.comm>+1%"), Outcome::kPassed);
  EXPECT_EQ(Only("decode.gemm>+1%"), Outcome::kBroken);
}

TEST(JudgeGates, OfEachPhaseThatWasCompared) {
  EXPECT_EQ(Judged("step>+0.5%"),
            (std::vector<std::pair<std::string, Outcome>>{{"decode.step", Outcome::kBroken}}));
  EXPECT_EQ(Only("prefill.step>+50%"), Outcome::kInconclusive);
  EXPECT_EQ(Only("decode.step.p99>+50%"), Outcome::kInconclusive);
}

TEST(JudgeGates, FiguresThatDoNotExistAreInconclusive) {
  EXPECT_EQ(Only("decode.compute>+1%"), Outcome::kInconclusive);
  EXPECT_EQ(Only("decode.window>+1%"), Outcome::kInconclusive);
  EXPECT_EQ(Only("whole.idle>+1%"), Outcome::kInconclusive);
  RunChanges changes;
  changes.whole = WholeChange{.window = {10e6, 10e6, std::nullopt},
                              .kernels = {9e6, 8e6, std::nullopt},
                              .parts = {{"compute", {9e6, 9e6, std::nullopt}}},
                              .rows = {}};
  const auto of_whole = [&](std::string_view gate, bool without_bounds = true) {
    const auto results = Judge({Parsed(gate)}, changes, without_bounds);
    EXPECT_EQ(results.size(), 1u) << gate;
    return results.at(0).outcome;
  };
  for (const auto* gate : {"compute>+1%", "comm>+1%", "copy>+1%", "idle>+1%", "idle.queued>+1us",
                           "window>+1%", "kernel-time>+1%", "kernels.new", "kernels.gone"})
    EXPECT_EQ(of_whole(gate), Outcome::kPassed) << gate;
  // One run a side gives no bounds for noise. How often a kernel is called has no noise.
  EXPECT_EQ(of_whole("window>+1%", false), Outcome::kInconclusive);
  EXPECT_EQ(of_whole("window>9ms", false), Outcome::kInconclusive);
  EXPECT_EQ(of_whole("kernels.new", false), Outcome::kPassed);
  for (const auto* gate :
       {"gemm>1ns", "gemm.dense>+1%", "comm.collective>+1%", "memset>+1%", "kernels.slower",
        "kernels.more-calls", "step>+1%", "mean>+1%", "decode.step>+1%"})
    EXPECT_EQ(of_whole(gate), Outcome::kInconclusive) << gate;
}

TEST(JudgeGates, WhatDoesNotExistSaysWhyAndWhatDoes) {
  const auto why = [](std::string_view gate, const RunChanges& changes) {
    const auto results = Judge({Parsed(gate)}, changes);
    EXPECT_EQ(results.size(), 1u) << gate;
    return results.at(0).why_none;
  };
  RunChanges changes = ChangesForTest();
  changes.phases.front().steps = {300, 120};
  EXPECT_EQ(why("decode.step>+1%", changes), "");
  EXPECT_EQ(why("prefill.step>+1%", changes), "too few");
  EXPECT_EQ(why("mixed.step>+1%", changes), "no side has a step of this phase; compared: decode");
  EXPECT_EQ(why("whole.window>+1%", changes), "both sides name their steps; compared: decode");
  EXPECT_EQ(why("decode.step.p99>+1%", changes),
            "it takes 200 steps on each side: base has 300, new 120");
  EXPECT_THAT(why("decode.compute>+1%", changes), HasSubstr("of recordings without steps"));
  changes.load_lacks["load.ttft.p50"] = "1 of 3 runs of new lack it";
  EXPECT_EQ(why("load.ttft.p50>+1%", changes), "1 of 3 runs of new lack it");
  changes.load_lacks.clear();
  changes.load.clear();
  changes.why_no_load = "the loads differ";
  EXPECT_EQ(why("load.ttft.p50>+1%", changes), "the loads differ");
  changes.phases.erase(changes.phases.begin());
  EXPECT_EQ(why("step>+1%", changes), "no phase could be compared");
  changes.phases.clear();
  changes.whole.emplace();
  EXPECT_EQ(why("decode.step>+1%", changes), "no side names its steps: only 'whole' was compared");
  EXPECT_THAT(why("gemm>+1%", changes), HasSubstr("has window, kernel-time, compute"));
}

TEST(JudgeGates, PhasesThatCannotBeComparedAreNamed) {
  RunChanges changes = ChangesForTest();
  EXPECT_THAT(NotJudged({Parsed("step>+50%")}, changes),
              testing::ElementsAre("gates without a phase do not look at prefill: too few"));
  EXPECT_THAT(NotJudged({Parsed("decode.step>+50%"), Parsed("load.throughput<-2%")}, changes),
              testing::IsEmpty());
  // The new runs no longer have this phase.
  changes.phases.back().steps = {8, 0};
  EXPECT_THAT(NotJudged({Parsed("step>+50%")}, changes), testing::IsEmpty());
  const auto results = Judge({Parsed("step>+50%"), Parsed("decode.step>+50%")}, changes);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].outcome, Outcome::kPassed);
  EXPECT_EQ(results[1].metric, "prefill.step");
  EXPECT_EQ(results[1].outcome, Outcome::kInconclusive);
  EXPECT_EQ(results[2].outcome, Outcome::kPassed);
}

TEST(JudgeGates, NumbersAndFiguresWithoutBounds) {
  EXPECT_EQ(Only("kernels.new"), Outcome::kBroken);
  EXPECT_EQ(Only("kernels.new>1"), Outcome::kPassed);
  EXPECT_EQ(Only("kernels.gone"), Outcome::kPassed);
  for (const auto* gate : {"load.throughput<-2%", "load.throughput<-6%"})
    EXPECT_EQ(Only(gate), Outcome::kInconclusive) << gate;
  const auto by_value = [](std::string_view gate) {
    return Judge({Parsed(gate)}, ChangesForTest(), true).front().outcome;
  };
  EXPECT_EQ(by_value("load.throughput<-2%"), Outcome::kBroken);
  EXPECT_EQ(by_value("load.throughput<-6%"), Outcome::kPassed);
  EXPECT_EQ(Only("load.ttft.p50>+2%"), Outcome::kInconclusive);
}

}  // namespace
}  // namespace tacho
