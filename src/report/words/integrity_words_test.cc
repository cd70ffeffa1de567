#include "report/words/integrity_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/answers/answers.h"
#include "report/device_totals.h"
#include "report/documents/analyze_document.h"
#include "report/json/brief_json.h"
#include "report/results_for_test.h"
#include "report/words/caveat.h"
#include "report/words/verdict.h"

namespace tacho {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

LostWork LostCalls(uint64_t lost, LossPattern pattern) {
  LostWork work;
  work.calls = 280;
  work.lost_calls = work.lost_events = lost;
  work.pattern = pattern;
  work.apis = {{"cudaLaunchKernel", 280, lost}};
  return work;
}

// Makes idle time unknown, as after a large loss.
void ForgetIdle(TraceAnalysis& trace) {
  trace.idle.known = false;
  trace.idle.causes.clear();
  trace.idle.gaps.clear();
  for (DeviceTime& device : trace.devices) ForgetIdleTime(device);
}

std::string CannotTellOf(const RunAnalysis& run, std::string_view id) {
  for (const Answer& answer : Answers(run)) {
    if (answer.id == id) return answer.cannot_tell;
  }
  return "";
}

TEST(LossText, SaysWhichCallsWhereThereAreSeveral) {
  EXPECT_EQ(LossText({}), "");
  EXPECT_EQ(LossText(LostCalls(1, LossPattern::kSpread)),
            "GPU work of 1 of 280 cudaLaunchKernel calls is missing");
  EXPECT_EQ(LossText(LostCalls(2, LossPattern::kSpread)),
            "GPU work of 2 of 280 cudaLaunchKernel calls is missing: calls all over the recording");
  LostWork work;
  work.cut_off = 1;
  EXPECT_EQ(LossText(work), "the recording ends before the work of its last call");
  work.cut_off = 2;
  EXPECT_EQ(LossText(work), "the recording ends before the work of its last 2 calls");
}

TEST(StopsText, SaysWhenAndHowThatIsKnown) {
  RecorderStops stops;
  EXPECT_EQ(StopsText(stops, {{0}, {9'000}}), "");
  stops.stopped = {6'000};
  stops.after = 20;
  stops.witness = "decode_step";
  EXPECT_EQ(StopsText(stops, {{0}, {9'000}}),
            "the recording of calls and GPU work stops 3.00 us before the trace does (20 ranges "
            "like decode_step hold no call there; all others do)");
  stops.began = {1'000};
  stops.before = 3;
  EXPECT_THAT(StopsText(stops, {{0}, {9'000}}),
              HasSubstr("begins 1.00 us after and stops 3.00 us before the trace does (23 ranges"));
}

TEST(LostWork, ThatMayHaveRunInIdleTimeMakesBusyTimeALowerBound) {
  RunAnalysis run = OneTrace();
  TraceAnalysis& trace = run.traces[0];
  trace.integrity.lost = LostCalls(2, LossPattern::kSpread);
  EXPECT_TRUE(BusyIsLeast(trace));
  EXPECT_THAT(Verdict(trace), testing::StartsWith("GPU busy at least 60.0 % of 1.00 ms, "));
  EXPECT_THAT(Caveat(trace), Not(HasSubstr("may have been busy"))) << "0 ns are not worth a word";
  trace.integrity.lost.in_doubt = {2'000};
  EXPECT_THAT(Caveat(trace), HasSubstr("so up to 2.00 us of the idle time may have been busy"));
  const LostWork lost = trace.integrity.lost;
  run = TwoRanksForTest();
  run.traces[1].integrity.lost = lost;
  EXPECT_THAT(Verdict(run), testing::StartsWith("GPUs busy at least 65.0 % of the window"));
  EXPECT_THAT(AnalyzeText(run, {}), HasSubstr("busy, at least %"));
}

TEST(LostWork, AtTheEdgesLeavesTheFiguresOfTheRest) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.integrity.lost = LostCalls(3, LossPattern::kEnd);
  EXPECT_FALSE(BusyIsLeast(trace));
  EXPECT_EQ(Caveat(trace),
            "GPU work of 3 of 280 cudaLaunchKernel calls is missing: the last calls of the "
            "recording; the figures are of the rest of the recording");
}

// Work that the end cut off is not lost.
TEST(LostWork, CutOffByTheEndIsNeverCalledLost) {
  RunAnalysis run = OneTrace();
  TraceAnalysis& trace = run.traces[0];
  trace.integrity.lost.cut_off = 2;
  EXPECT_EQ(LossInWords(trace), "the recording ends before the work of its last 2 calls");
  EXPECT_FALSE(BusyIsLeast(trace));
  ForgetIdle(trace);
  EXPECT_EQ(LossInWords(trace), "the recording ends before the work of its last 2 calls");
  std::string all = AnalyzeText(run, {});
  for (const Answer& answer : Answers(run)) all += answer.sentence + answer.cannot_tell;
  EXPECT_THAT(all, AllOf(Not(HasSubstr("lost")), Not(HasSubstr("No event"))));
  EXPECT_THAT(all, HasSubstr("compute 55.0 % + communication and copies 5.0 % + idle or "
                             "unrecorded work 40.0 % = window"));
}

TEST(Answers, WhatNoOneCanTellNoAnswerTells) {
  RunAnalysis run = OneTrace();
  TraceAnalysis& trace = run.traces[0];
  EXPECT_EQ(LossInWords(run), "no event lost");
  trace.launches.with_launch = 0;
  EXPECT_EQ(LossInWords(run), "whether events are missing cannot be told");
  EXPECT_EQ(Answers(run)[0].sentence, "Whether events are missing cannot be told");
  EXPECT_EQ(Answers(run)[0].figure, "");
  trace.idle.causes = {{IdleCause::kUnknown, {400'000}, 2}};
  DeviceClock& clock = trace.integrity.clocks.emplace_back();
  clock.state = DeviceClock::State::kOff;
  clock.before_launch = 1;
  clock.least = DurationNs{5'000};
  EXPECT_EQ(Answers(run)[1].figure, "40.0 %");
  EXPECT_EQ(Answers(run)[1].sentence,
            "Why cannot be told, because host and device have no clock in common");
  for (const char* id : {"bound", "first"})
    EXPECT_EQ(CannotTellOf(run, id), "host and device have no clock in common");
  trace.notes.Add(NoteId::kMixedRanks, "");
  for (const char* id : {"idle", "steps", "ranks"})
    EXPECT_THAT(CannotTellOf(run, id), HasSubstr("the file holds several ranks as one"));
}

// The times of one rank are refused, so all figures of the run are of the other rank.
TEST(Answers, LeaveOutARankOfRefusedTimes) {
  RunAnalysis run = TwoRanksForTest();
  run.traces[1].integrity.impossible = {.compared = 100, .out_of_order = 50, .first = 0};
  run.traces[1].devices.clear();
  run.traces[1].idle = {};
  run.traces[1].idle.known = false;
  const RunTotals totals = TotalsOf(run);
  EXPECT_EQ(totals.timed, 1u);
  EXPECT_EQ(totals.idle.window, run.traces[0].idle.window);
  EXPECT_EQ(totals.idle.causes.size(), run.traces[0].idle.causes.size());
  EXPECT_EQ(totals.kernels.total, run.traces[0].kernels.total);
  std::string all;
  for (const Answer& answer : Answers(run)) all += answer.sentence + answer.cannot_tell + "; ";
  EXPECT_THAT(all, HasSubstr("In 1 of 2 traces the device's times are refused"));
  EXPECT_THAT(all, AllOf(Not(HasSubstr("never idle")), Not(HasSubstr("is missing in"))));
  EXPECT_THAT(Verdict(run), HasSubstr("over 1 of 2 traces"));
  const auto launched_by = [](const RunAnalysis& of) {
    const std::vector<Answer> answers = Answers(of);
    return *std::ranges::find(answers, "origin", &Answer::id);
  };
  RunAnalysis other = run;
  other.traces.resize(1);
  EXPECT_EQ(launched_by(run).share, launched_by(other).share);
}

// Two traces lost work, and the idle time of one of them is known. All lines must give the same
// count.
TEST(LossInWords, CountsTracesThatLackWorkOnce) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) {
    trace.integrity.lost = LostCalls(1, LossPattern::kSpread);
    trace.notes.Add(NoteId::kLostGpuWork, "");
  }
  ForgetIdle(run.traces[1]);
  EXPECT_THAT(Verdict(run), HasSubstr("GPU work is missing in 2 of 2 traces"));
  EXPECT_THAT(Caveat(run), Not(HasSubstr("is missing")));
  EXPECT_THAT(Answers(run)[0].sentence, StartsWith("2 traces incomplete: GPU work of 2 of 560"));
}

TEST(LossInWords, OfARunSaysWhatTheEndCutOff) {
  RunAnalysis run = TwoRanksForTest();
  EXPECT_EQ(LossInWords(run), "no event lost");
  run.traces[1].integrity.lost.cut_off = 2;
  EXPECT_EQ(LossInWords(run),
            "in 1 of 2 traces the recording ends before the work of the last calls");
}

TEST(LossInWords, LaunchesWithoutARowAreSaid) {
  RunAnalysis run = TwoRanksForTest();
  TraceAnalysis& trace = run.traces[1];
  trace.launches = {};
  trace.devices.clear();
  trace.notes.Add(NoteId::kNoGpuEvents, "");
  EXPECT_EQ(LossInWords(trace), "whether events are missing cannot be told");
  ApiRow& row = trace.launches.apis.emplace_back();
  row.name = "cudaLaunchKernel";
  row.stats.count = 7;
  trace.launches.apis.emplace_back().name = "cudaEventRecord";
  EXPECT_EQ(LossInWords(trace), "no GPU work is recorded, although 7 calls launched some");
  EXPECT_EQ(Verdict(trace),
            "no device work is recorded in this trace, although calls launched some, so no device "
            "time");
  EXPECT_EQ(LossInWords(run),
            "in 1 of 2 traces no GPU work is recorded, although calls launched some");
  EXPECT_EQ(MissingWorkText(run), "GPU work is missing in 1 of 2 traces");
  EXPECT_EQ(Answers(run)[0].figure, "1 whole");
  EXPECT_THAT(Answers(run)[0].sentence, StartsWith("In 1 of 2 traces no GPU work is recorded"));
  run.traces[0].integrity.lost = LostCalls(3, LossPattern::kSpread);
  run.traces[0].notes.Add(NoteId::kLostGpuWork, "");
  EXPECT_EQ(LossInWords(run),
            "1 trace incomplete: GPU work of 3 of 280 launch and copy calls is missing; in 1 of 2 "
            "traces no GPU work is recorded, although calls launched some");
}

TEST(LossInWords, RowsThatAreNotReadAreSaid) {
  RunAnalysis run = TwoRanksForTest();
  run.traces[1].notes.Add(NoteId::kDeviceRowsNotRead, "HPU", 3'600);
  EXPECT_EQ(LossInWords(run.traces[1]), "3,600 device rows not read");
  EXPECT_EQ(LossInWords(run), "in 1 of 2 traces device rows are not read");
  EXPECT_FALSE(IsWhole(run.traces[1])) << "as the exit status says";
  EXPECT_EQ(Answers(run)[0].figure, "1 whole");
  run.traces[1].integrity.lost = LostCalls(3, LossPattern::kSpread);
  run.traces[1].notes.Add(NoteId::kLostGpuWork, "");
  EXPECT_EQ(LossInWords(run),
            "1 trace incomplete: GPU work of 3 of 280 launch and copy calls is missing; in 1 of 2 "
            "traces device rows are not read");
}

TEST(Answers, SayWhatIsLostWhereTheVerdictDoes) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) {
    trace.integrity.impossible = {.compared = 10, .out_of_order = 8};
    trace.notes.Add(NoteId::kTimesRefused, "");
    ForgetIdle(trace);
    trace.devices.clear();
  }
  EXPECT_EQ(Answers(run)[0].sentence,
            "In 2 of 2 traces the device's times are refused; 1 of 3 ranks missing");
}

// A trace that was cut before its device rows is no part of any figure, so the caveat is silent.
TEST(Answers, SayThatARankIsIncompleteBesideACaveatOfAnother) {
  RunAnalysis run = TwoRanksForTest();
  run.traces[0].facts.python_stacks = true;
  run.traces[1].devices.clear();
  run.traces[1].notes.Add(NoteId::kTruncatedJson, "");
  EXPECT_THAT(Answers(run)[0].sentence,
              AllOf(StartsWith("1 trace incomplete; in 1 of 2 traces Python stacks"),
                    HasSubstr("1 of 3 ranks missing")));
}

TEST(Answers, SayThatAFrontEndIsIncomplete) {
  RunAnalysis run = TwoRanksForTest();
  run.traces[1].facts.role = TraceRole::kFrontend;
  run.traces[1].notes.Add(NoteId::kTruncatedJson, "");
  EXPECT_EQ(Answers(run)[0].figure, "1 whole");
  EXPECT_THAT(Answers(run)[0].sentence, StartsWith("No event lost; 1 other trace incomplete"));
}

TEST(LossInWords, OfAFileWithoutEvents) {
  RunAnalysis run = OneTrace();
  run.traces[0].counts.total = 0;
  EXPECT_EQ(LossInWords(run), "the file holds no event");
  EXPECT_FALSE(IsWhole(run.traces[0]));
}

TEST(Caveat, WithoutDeviceTimeNothingLooksIdle) {
  RunAnalysis run = OneTrace();
  run.traces[0].devices.clear();
  run.traces[0].notes.Add(NoteId::kTruncatedJson, "");
  EXPECT_EQ(Caveat(run), "events are missing");
}

TEST(Answers, OfRefusedTimesNameTheMissingRanks) {
  RunAnalysis run = TwoRanksForTest();
  run.traces.resize(1);
  run.traces[0].integrity.impossible = {.compared = 10, .out_of_order = 8};
  run.traces[0].notes.Add(NoteId::kTimesRefused, "");
  ForgetIdle(run.traces[0]);
  run.traces[0].devices.clear();
  EXPECT_THAT(Verdict(run.traces[0], run.ranks),
              AllOf(StartsWith("device time cannot be told"), HasSubstr("ranks missing")));
}

TEST(LossInWords, CountsCallsThatLackAPart) {
  RunAnalysis run = TwoRanksForTest();
  run.traces[1].integrity.lost = LostCalls(3, LossPattern::kSpread);
  run.traces[1].integrity.lost.partial_graphs = 2;
  run.traces[1].notes.Add(NoteId::kLostGpuWork, "");
  EXPECT_EQ(LossInWords(run),
            "1 trace incomplete: all or part of the GPU work of 5 of 280 launch and copy calls is "
            "missing");
}

TEST(LossInWords, RefusedTimesAreSaid) {
  RunAnalysis run = TwoRanksForTest();
  run.traces[1].integrity.impossible = {.compared = 10, .out_of_order = 8};
  run.traces[1].notes.Add(NoteId::kTimesRefused, "");
  ForgetIdle(run.traces[1]);
  EXPECT_EQ(LossInWords(run), "in 1 of 2 traces the device's times are refused");
  run.traces[0].notes.Add(NoteId::kProducerLostEvents, "");
  EXPECT_EQ(LossInWords(run),
            "in 1 of 2 traces the device's times are refused; in 1 of 2 traces events may be "
            "missing, as the profiler says");
}

// The run also lacks other ranks.
TEST(Answers, OfOneTraceItsLossComesFirst) {
  RunAnalysis run = TwoRanksForTest();
  run.traces.resize(1);
  run.traces[0].integrity.lost = LostCalls(260, LossPattern::kSpread);
  run.traces[0].notes.Add(NoteId::kLostGpuWork, "");
  ForgetIdle(run.traces[0]);
  EXPECT_THAT(Answers(run)[0].sentence,
              StartsWith("GPU work of 260 of 280 cudaLaunchKernel calls"));
  for (const char* id : {"kernels", "graphs", "origin"})
    EXPECT_THAT(CannotTellOf(run, id), HasSubstr("nothing tells what it was"));
  EXPECT_THAT(BriefJson(run), Not(HasSubstr("category_share")));
}

// After the recorder stopped nothing was recorded, neither busy nor idle time.
TEST(WhyNoIdleTime, IsThatTheRecorderStopped) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.integrity.lost.cut_off = 2;
  ForgetIdle(trace);
  EXPECT_THAT(WhyNoIdleTime(trace), HasSubstr("its last 2 calls"));
  trace.integrity.stops.stopped = trace.span.start + DurationNs{1'000};
  EXPECT_THAT(WhyNoIdleTime(trace), HasSubstr("the recording of calls and GPU work stops"));
}

// The bounds of a clock may cross by their tolerance.
TEST(ClocksText, NamesTheSmallerBoundFirst) {
  DeviceClock clock{.device = "0", .launched = 10, .waited = 16, .after_wait = 14};
  clock.state = DeviceClock::State::kOff;
  clock.least = DurationNs{-5'890};
  clock.most = DurationNs{-6'690};
  EXPECT_THAT(ClocksText({clock}), HasSubstr("ahead of the host's by 5.89 us to 6.69 us"));
  clock.most = clock.least;
  EXPECT_THAT(ClocksText({clock}), EndsWith("ahead of the host's by 5.89 us"));
  clock.least_at_start = DurationNs{-10};
  clock.least_at_end = DurationNs{-20};
  EXPECT_THAT(ClocksText({clock}), EndsWith("5.89 us"));
  clock.least_at_end = DurationNs{-5'000};
  EXPECT_THAT(ClocksText({clock}), EndsWith("5.89 us, or drifts"));
}

}  // namespace
}  // namespace tacho
