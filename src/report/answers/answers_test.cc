#include "report/answers/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "report/results_for_test.h"

namespace tacho {
namespace {

Answer AnswerOf(const RunAnalysis& run, std::string_view id) {
  for (const Answer& answer : Answers(run)) {
    if (answer.id == id) return answer;
  }
  return {};
}

// Checks what must hold for every run.
void ExpectSound(const RunAnalysis& run) {
  const std::vector<Answer> answers = Answers(run);
  ASSERT_EQ(answers.size(), 15U);
  EXPECT_EQ(answers.front().id, "trust");
  EXPECT_EQ(answers.back().id, "drift");
  for (const Answer& answer : answers) {
    SCOPED_TRACE(answer.id);
    EXPECT_NE(answer.question, "");
    EXPECT_NE(answer.sentence.empty(), answer.cannot_tell.empty()) << "one of both";
    EXPECT_EQ(answer.figure.empty(), answer.of.empty());
    if (!answer.cannot_tell.empty()) {
      EXPECT_EQ(answer.figure, "");
      EXPECT_FALSE(answer.share || answer.at);
    }
    if (answer.share) {
      EXPECT_GE(*answer.share, 0);
      EXPECT_LE(*answer.share, 1);
    }
    if (answer.at) {
      EXPECT_LT(answer.at->trace, run.traces.size());
      EXPECT_FALSE(answer.at->when.empty());
    }
  }
}

TEST(Answers, HaveASentenceOrAReason) {
  ExpectSound({});
  ExpectSound(OneTrace());
  ExpectSound(TwoRanksForTest());
  RunAnalysis nothing;
  nothing.traces.emplace_back();
  ExpectSound(nothing);
  RunAnalysis on_host = OneTrace();
  on_host.traces[0].devices[0].on_host = true;
  ExpectSound(on_host);
}

TEST(Answers, NameWhatTheFiguresAreOf) {
  const RunAnalysis run = OneTrace();
  const Answer trust = AnswerOf(run, "trust");
  EXPECT_EQ(trust.figure, "66.7 % linked to a launch");
  EXPECT_EQ(trust.of, "3 pieces of GPU work");
  EXPECT_EQ(trust.sentence, "No event lost");
  const Answer idle = AnswerOf(run, "idle");
  EXPECT_EQ(idle.figure, "40.0 %");
  EXPECT_EQ(idle.of, "1.00 ms of GPU time");
  EXPECT_EQ(idle.sentence, "The host launched late for at least 75.0 % of the idle time");
  EXPECT_EQ(idle.at, (Evidence{0, {{510'000}, {810'000}}})) << "the longest gap";
  const Answer bound = AnswerOf(run, "bound");
  EXPECT_EQ(bound.figure, "at least 30.0 % idle because of the host");
  EXPECT_EQ(bound.sentence, "The host limits: it causes at least 75.0 % of the GPU's idle time");
  const Answer kernels = AnswerOf(run, "kernels");
  EXPECT_EQ(kernels.figure, "66.7 %");
  EXPECT_EQ(kernels.of, "600 us of kernel time");
  const Answer first = AnswerOf(run, "first");
  EXPECT_EQ(first.figure, "at least 30.0 %");
  EXPECT_EQ(first.sentence,
            "The host launched late for at least 30.0 % of the window (longest gap: 300 us in "
            "aten::empty, 500 us after the first event)")
      << "what is unknown may be the host's too";
  EXPECT_EQ(AnswerOf(run, "communication").sentence, "No communication ran");
  EXPECT_EQ(AnswerOf(run, "graphs").sentence, "No graph was launched");
  EXPECT_EQ(AnswerOf(run, "change").cannot_tell, "only one run was given");
}

// Half of the idle time has no known cause and may be due to any cause.
TEST(Answers, WhatIsUnknownIsNobodysAndLimitsWhatCanBeSaid) {
  RunAnalysis run = OneTrace();
  std::vector<IdleCauseRow>& causes = run.traces[0].idle.causes;
  causes.clear();
  for (const IdleCause cause : {IdleCause::kUnknown, IdleCause::kHostLate}) {
    IdleCauseRow& row = causes.emplace_back();
    row.cause = cause;
    row.total = {200'000};
  }
  const std::string half = "the cause of 50.0 % of the idle time is unknown";
  EXPECT_EQ(AnswerOf(run, "bound").sentence,
            "The host limits: it causes at least 50.0 % of the GPU's idle time");
  EXPECT_EQ(AnswerOf(run, "first").cannot_tell, half);
  causes[1].total = {100'000};
  causes[0].total = {300'000};
  EXPECT_EQ(AnswerOf(run, "idle").sentence, "The cause of 75.0 % of the idle time is unknown");
  EXPECT_EQ(AnswerOf(run, "bound").cannot_tell, "the cause of 75.0 % of the idle time is unknown");
  causes[1].cause = IdleCause::kWaiting;
  causes[0].total = {100'000};
  causes[1].total = {300'000};
  EXPECT_EQ(AnswerOf(run, "bound").sentence,
            "Neither alone: the GPU is busy for 60.0 %, and the host causes at least 0.0 % of the "
            "rest");
}

// Results that were read back may lack what today's results contain.
TEST(Answers, WithoutCausesTheyAreUnknown) {
  RunAnalysis run = OneTrace();
  run.traces[0].idle.causes.clear();
  EXPECT_THAT(AnswerOf(run, "idle").cannot_tell, testing::HasSubstr("missing"));
}

TEST(Answers, LostEventsComeFirst) {
  RunAnalysis run = OneTrace();
  run.traces[0].notes.Add(NoteId::kTruncatedGzip, "byte 7", 1);
  const Answer trust = AnswerOf(run, "trust");
  EXPECT_EQ(trust.figure, "0 whole");
  EXPECT_EQ(trust.of, "1 trace");
  EXPECT_EQ(trust.sentence, "Events are missing, so what looks idle may have been busy");
}

TEST(Answers, TheStragglerIsOfTheRanks) {
  const RunAnalysis run = TwoRanksForTest();
  const Answer ranks = AnswerOf(run, "ranks");
  EXPECT_EQ(ranks.figure, "60.0 to 70.0 % busy");
  EXPECT_EQ(AnswerOf(run, "first").sentence,
            "The host launched late for at least 30.0 % of the window");
  EXPECT_EQ(ranks.sentence, "Rank 1 computes longest: 650 us, 18.2 % more than rank 0");
  EXPECT_EQ(ranks.at, (Evidence{1, run.traces[1].devices[0].window}));
  EXPECT_THAT(AnswerOf(run, "idle").of, "2.00 ms of GPU time over 2 devices");
  EXPECT_THAT(AnswerOf(run, "trust").sentence, testing::HasSubstr("1 of 3 ranks missing"));
}

// `count` decode steps of 100 us each. The fifth takes 300 us, and each step in the last quarter
// `last_ns`. Each step has 4 requests, the last one 5. Every other step launches a graph.
RunAnalysis WithSteps(int64_t count, int64_t last_ns = 110'000) {
  RunAnalysis run = OneTrace();
  TraceAnalysis& trace = run.traces[0];
  trace.steps.steps.clear();
  for (int64_t i = 0; i < count; ++i) {
    Step step;
    step.label = {Phase::kDecode, 0, 0, i + 1 == count ? 5 : 4, 4};
    const int64_t length = i == 4 ? 300'000 : i >= count - count / 4 ? last_ns : 100'000;
    const TimeNs start{i * 1'000'000};
    step.when = {start, start + DurationNs{length}};
    if (i + 1 < count) step.period = DurationNs{1'000'000};
    step.device_busy = DurationNs{400'000};
    trace.steps.steps.push_back(step);
    if (i % 2 == 0)
      trace.launches.graphs.push_back({{start, start + DurationNs{10}}, 1, {start, start}});
  }
  trace.launches.graph_gpu_events = 1;
  return run;
}

TEST(Answers, StepsAreThoseOfTheMainPhase) {
  const RunAnalysis run = WithSteps(8);
  const Answer steps = AnswerOf(run, "steps");
  EXPECT_EQ(steps.figure, "1.00 ms");
  EXPECT_EQ(steps.of, "8 decode steps from start to start, median");
  EXPECT_EQ(steps.sentence,
            "On the host, decode steps take 100 us (median), 300 us (p99), 300 us at most");
  EXPECT_EQ(steps.at, (Evidence{0, run.traces[0].steps.steps[4].when}));
  const Answer load = AnswerOf(run, "load");
  EXPECT_EQ(load.figure, "4 requests");
  EXPECT_EQ(load.sentence, "Requests in a step: 4 (4 to 5); tokens in a step: 4");
  EXPECT_EQ(load.at, (Evidence{0, run.traces[0].steps.steps[7].when}));
  const Answer graphs = AnswerOf(run, "graphs");
  EXPECT_EQ(graphs.sentence, "8 decode steps, 4 of them with a graph launch; 4 graph launches");
  EXPECT_EQ(graphs.at, (Evidence{0, run.traces[0].steps.steps[1].when})) << "the first without";
  EXPECT_THAT(AnswerOf(run, "bound").sentence, testing::Not(testing::HasSubstr("decode")))
      << "work launched in a step may run after its period";
}

TEST(Answers, PaddingIsNamedAbove5Percent) {
  RunAnalysis run = WithSteps(8);
  run.traces[0].graphs.batch_tokens = 2'000;
  run.traces[0].graphs.padding_tokens = 100;
  EXPECT_THAT(AnswerOf(run, "graphs").sentence, testing::Not(testing::HasSubstr("padding")));
  run.traces[0].graphs.padding_tokens = 250;
  EXPECT_EQ(AnswerOf(run, "graphs").sentence,
            "8 decode steps, 4 of them with a graph launch; 4 graph launches; 12.5 % of the 2,000 "
            "tokens that the graphs computed were padding");
}

// Between steps there was work that the host did not launch only if requests were in flight.
TEST(Answers, TheHostLimitsIfNoStepRanForRequestsInFlight) {
  RunAnalysis run = OneTrace();
  IdleTable& idle = run.traces[0].idle;
  for (IdleCauseRow& row : idle.causes) {
    if (row.cause == IdleCause::kHostLate) row.cause = IdleCause::kBetweenSteps;
  }
  EXPECT_THAT(AnswerOf(run, "bound").sentence, testing::StartsWith("Neither alone"));
  idle.requests = Requests::kKnown;
  EXPECT_EQ(AnswerOf(run, "bound").sentence,
            "The host limits: it causes at least 75.0 % of the GPU's idle time");
}

TEST(Answers, TheMainPhaseTakesMostOfTheDevice) {
  RunAnalysis run = WithSteps(8);
  std::vector<Step>& steps = run.traces[0].steps.steps;
  steps[4].label.phase = Phase::kMixed;
  steps[4].when.end = steps[4].when.end + DurationNs{5'000'000};
  EXPECT_EQ(AnswerOf(run, "steps").of, "7 decode steps from start to start, median");
  for (Step& step : steps) step.device_busy.reset();
  EXPECT_EQ(AnswerOf(run, "steps").of, "1 mixed step from start to start, median");
}

TEST(Answers, APauseMakesNoMainPhase) {
  RunAnalysis run = WithSteps(8);
  std::vector<Step>& steps = run.traces[0].steps.steps;
  steps[3].label.phase = Phase::kPrefill;
  steps[3].period = DurationNs{9'000'000'000};
  EXPECT_EQ(AnswerOf(run, "steps").of, "7 decode steps from start to start, median");
  for (Step& step : steps) step.label.phase = Phase::kOther;
  EXPECT_EQ(AnswerOf(run, "steps").of, "8 steps of unknown phase from start to start, median");
}

TEST(Answers, DriftIsBetweenTheFirstAndTheLastQuarter) {
  const Answer drift = AnswerOf(WithSteps(8), "drift");
  EXPECT_EQ(drift.figure, "+10.0 %");
  EXPECT_EQ(drift.of, "100 us, the median of the first quarter of decode steps");
  EXPECT_EQ(drift.sentence,
            "The last quarter's median is 110 us; 1 of 8 steps takes more than twice the median");
  EXPECT_EQ(AnswerOf(WithSteps(8, 80'000), "drift").figure, "-20.0 %");
  EXPECT_EQ(AnswerOf(WithSteps(8, 99'990), "drift").figure, "<0.1 %");
  EXPECT_EQ(AnswerOf(WithSteps(7), "drift").cannot_tell, "7 decode steps are too few");
}

TEST(Answers, WaitsAreSynchronizingCalls) {
  RunAnalysis run = OneTrace();
  EXPECT_EQ(AnswerOf(run, "waits").of, "2 host calls");
  run.traces[0].launches.apis.push_back(
      {"cudaStreamSynchronize", {2, {30'000}, {5'000}, {25'000}, {5'000}, {25'000}, {25'000}}});
  run.traces[0].launches.apis.push_back(
      {"cudaMemcpyAsync", {2, {90'000}, {5'000}, {85'000}, {5'000}, {85'000}, {85'000}}});
  const Answer waits = AnswerOf(run, "waits");
  EXPECT_EQ(waits.figure, "30.0 us in 2");
  EXPECT_EQ(waits.of, "6 host calls");
  EXPECT_EQ(waits.sentence,
            "Of calls that may wait for the device, cudaStreamSynchronize takes longest: 30.0 us "
            "in 2 calls, 25.0 us at most");
}

TEST(Answers, NamesAreShortAndVisible) {
  RunAnalysis run = OneTrace();
  run.traces[0].kernels.rows[0].name = std::string(600, 'x') + "\x1b[31m";
  const Answer kernels = AnswerOf(run, "kernels");
  EXPECT_LT(kernels.sentence.size(), 200U);
  EXPECT_EQ(kernels.sentence.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tacho
