#include "report/words/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/device_totals.h"
#include "report/results_for_test.h"
#include "report/words/caveat.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The window is all that was recorded, and no gap is most of the idle time.
TraceAnalysis PlainTrace() {
  TraceAnalysis trace = GpuTraceForTest();
  trace.span = trace.devices[0].window;
  trace.idle.gaps.clear();
  return trace;
}

TEST(Verdict, SaysWhyTheGpuWasIdle) {
  EXPECT_EQ(Verdict(PlainTrace()),
            "GPU busy 60.0 % of 1.00 ms; the host launched late for at least 30.0 % of the window; "
            "copies "
            "with no kernel beside them take 5.0 % of the window");
}

TEST(Verdict, SaysWhatABusyGpuDid) {
  TraceAnalysis trace = PlainTrace();
  trace.devices[0].busy = trace.idle.busy = {950'000};
  trace.devices[0].idle = {50'000};
  trace.idle.causes = {{IdleCause::kHostLate, {30'000}, 1}, {IdleCause::kQueued, {20'000}, 1}};
  EXPECT_EQ(BriefVerdict(trace),
            "GPU busy 95.0 % of 1.00 ms; copies with no kernel beside them "
            "take 5.0 % of the window");
  trace.devices[0].exposed_copy = {};
  EXPECT_EQ(Verdict(trace),
            "GPU busy 95.0 % of 1.00 ms; gemm.dense takes 66.7 % of the kernel time");
  trace.devices[0].exposed_comm = {100'000};
  EXPECT_EQ(Verdict(trace),
            "GPU busy 95.0 % of 1.00 ms; communication is exposed for 10.0 % of the window, "
            "including waits for other ranks; gemm.dense takes 66.7 % of the kernel time");
  EXPECT_EQ(BriefVerdict(trace),
            "GPU busy 95.0 % of 1.00 ms; communication is exposed for 10.0 % of the window, "
            "including waits for other ranks");
  trace.devices[0].exposed_comm = {600'000};
  EXPECT_THAT(Verdict(trace), Not(HasSubstr("gemm"))) << "the devices compute for less than that";
}

TEST(Verdict, HiddenCommunicationIsCalledSo) {
  TraceAnalysis trace = PlainTrace();
  trace.devices[0].busy = trace.idle.busy = {950'000};
  trace.devices[0].exposed_comm = {32'000};
  trace.devices[0].exposed_copy = {};
  trace.idle.causes = {{IdleCause::kHostLate, {30'000}, 1}};
  trace.kernels.categories[0].category = "comm.moe_all_to_all";
  EXPECT_EQ(Verdict(trace),
            "GPU busy 95.0 % of 1.00 ms; comm.moe_all_to_all takes 66.7 % of the kernel time, but "
            "communication is exposed for 3.2 % of the window only");
}

TEST(Verdict, SaysWhatOfTheRecordingTheWindowIs) {
  TraceAnalysis trace = PlainTrace();
  trace.span = {{-900'000}, {1'115'000}};
  EXPECT_EQ(
      Verdict(trace),
      "GPU busy 60.0 % of 1.00 ms, 29.8 % of the 2.02 ms recorded (1.01 ms before the first "
      "work); the host launched late for at least 30.0 % of the window; copies with no kernel "
      "beside them take 5.0 % of the window");
  trace.scope.window = trace.devices[0].window;
  EXPECT_THAT(Verdict(trace), Not(HasSubstr("recorded"))) << "as it was asked";
  trace.scope.window.reset();
  trace.devices.push_back(trace.devices[0]);
  EXPECT_THAT(Verdict(trace), testing::StartsWith("2 GPUs busy 60.0 % of 2.00 ms, 29.8 % of the "
                                                  "time recorded; "));
  RunAnalysis run = TwoRanksForTest();
  EXPECT_THAT(Verdict(run), HasSubstr("54.2 % of the time recorded"));
  run.together.emplace_back();
  EXPECT_THAT(Verdict(run), Not(HasSubstr("recorded")));
}

TEST(Verdict, TheShareOfTheRecordingIsAbsentWhereItCannotBeTold) {
  TraceAnalysis trace = PlainTrace();
  trace.span = {{-900'000}, {1'115'000}};
  trace.integrity.clocks.push_back({.device = "0", .state = DeviceClock::State::kOff});
  EXPECT_THAT(Verdict(trace), Not(HasSubstr("recorded"))) << "two clocks";
  trace.integrity.clocks.clear();
  trace.notes.Add(NoteId::kTruncatedJson, "byte 5");
  EXPECT_THAT(Verdict(trace), Not(HasSubstr("recorded"))) << "the file ends early";
  trace = PlainTrace();
  trace.span = {{-900'000}, {1'115'000}};
  trace.idle.may_be_busy = {500'000};
  EXPECT_THAT(Verdict(trace), HasSubstr("GPU busy 60.0 % of 1.00 ms, at least 29.8 % of the"))
      << "before the first work the device may have been busy";
}

TEST(Verdict, OfARunWhoseTimesAreRefusedSaysSo) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) {
    trace.devices.clear();
    trace.idle = {};
    trace.integrity.impossible = {.compared = 400, .out_of_order = 300};
  }
  ASSERT_FALSE(run.traces[0].integrity.device_times());
  EXPECT_THAT(Verdict(run), HasSubstr("device time cannot be told: 300 of 400 pieces of GPU work"));
  EXPECT_THAT(Verdict(run), HasSubstr("so it is in 2 of 2 traces"));
}

TEST(Verdict, NamesTheGapThatIsMostOfTheIdleTime) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.span = trace.devices[0].window;
  EXPECT_EQ(Verdict(trace),
            "GPU busy 60.0 % of 1.00 ms; the host launched late for at least 30.0 % of the window "
            "(longest gap: 300 us in aten::empty, 400 us after the first event); copies with no "
            "kernel beside them take 5.0 % of the window");
  trace.idle.gaps[0].cause = trace.idle.causes[0].cause = IdleCause::kQueued;
  EXPECT_THAT(Verdict(trace), HasSubstr("(longest gap: 300 us, 400 us after"));
  trace.idle.gaps[0].when.end = {650'000};
  EXPECT_THAT(Verdict(trace), Not(HasSubstr("gap")));
}

TEST(Verdict, NobodyIsBlamedWithoutARequest) {
  TraceAnalysis trace = PlainTrace();
  trace.idle.requests = Requests::kKnown;
  trace.idle.busy = trace.devices[0].busy = {50'000};
  trace.devices[0].exposed_copy = {};
  trace.idle.causes = {{IdleCause::kNoRequest, {900'000}, 1},
                       {IdleCause::kBetweenSteps, {40'000}, 1},
                       {IdleCause::kHostLate, {10'000}, 1}};
  EXPECT_EQ(Verdict(trace),
            "GPU busy 5.0 % of 1.00 ms; no request was in flight for 90.0 % of it, the rest was "
            "50.0 % busy; requests were in flight, but no engine step ran for 40.0 % of the time "
            "with requests; the host launched late for 10.0 % of the time with requests");
  trace.idle.causes = {{IdleCause::kNoRequest, {950'000}, 1}};
  EXPECT_EQ(Verdict(trace),
            "GPU busy 5.0 % of 1.00 ms; no request was in flight for 95.0 % of it, the rest was "
            "100.0 % busy");
}

TEST(Verdict, BetweenStepsTheTraceAloneCannotTell) {
  TraceAnalysis trace = PlainTrace();
  trace.devices[0].exposed_copy = {};
  trace.idle.causes = {{IdleCause::kBetweenSteps, {400'000}, 1}};
  EXPECT_EQ(Verdict(trace),
            "GPU busy 60.0 % of 1.00 ms; no engine step ran for 40.0 % of the window: there was no "
            "work, or the host had not begun it; gemm.dense takes 66.7 % of the kernel time");
}

TEST(Verdict, OfACpuEngineItsOperators) {
  TraceAnalysis trace = PlainTrace();
  trace.devices[0].on_host = true;
  trace.devices[0].exposed_copy = {};
  trace.idle.causes = {{IdleCause::kHost, {400'000}, 1}};
  EXPECT_EQ(Verdict(trace),
            "CPU engine: operators run for 60.0 % of 1.00 ms; gemm.dense takes 66.7 % of the "
            "operator time");
  trace.idle.causes = {{IdleCause::kInOperator, {300'000}, 1}, {IdleCause::kHost, {100'000}, 1}};
  EXPECT_EQ(Verdict(trace),
            "CPU engine: operators run for 60.0 % of 1.00 ms; the executing thread was in "
            "operators that only call others for 30.0 % of the window; gemm.dense takes 66.7 % of "
            "the operator time");
  trace.idle.causes = {{IdleCause::kHost, {400'000}, 1}};
  trace.devices[0].streams.resize(2);
  trace.devices[0].streams[1].stream = "gloo's thread";
  EXPECT_EQ(Verdict(trace),
            "CPU engine: operators, or collectives of other threads, run for 60.0 % of 1.00 ms; "
            "gemm.dense takes 66.7 % of the work time");
}

TEST(Verdict, WithoutDeviceWorkThereIsNone) {
  TraceAnalysis trace;
  EXPECT_EQ(Verdict(trace), "the file holds no event: is it a trace of PyTorch's profiler?");
  trace.counts.total = 1;
  EXPECT_EQ(Verdict(trace), "no device work in this trace, so no device time");
  trace.facts.role = TraceRole::kFrontend;
  EXPECT_EQ(Verdict(trace),
            "a front-end's trace: no operator and no GPU work in it, so no device time");
}

TEST(Verdict, NamesAnAcceleratorThatIsNotRead) {
  TraceAnalysis trace;
  trace.counts.total = 1320;
  trace.notes.Add(NoteId::kDeviceRowsNotRead, "mtia_ccp_events", 1313);
  EXPECT_EQ(Verdict(trace),
            "device time cannot be told: device rows of mtia_ccp_events are not read (1,313 events "
            "of an accelerator)");
}

TEST(Verdict, NamesWhatARecordingIsWithoutDeviceTime) {
  TraceAnalysis trace;
  trace.counts.total = 1;
  trace.notes.Add(NoteId::kRangeProfiler, "", 10);
  EXPECT_EQ(Verdict(trace),
            "no device time: the range profiler ran, which counts hardware events for each range "
            "and records no times of kernels; record again without profiler_metrics");
  trace.notes = {};
  trace.facts.role = TraceRole::kForeign;
  trace.facts.producer = "VizTracer";
  EXPECT_EQ(Verdict(trace),
            "a Chrome trace of another producer (VizTracer): no torch operator, no step and no GPU "
            "work in it, so no device time");
  trace.facts.role = TraceRole::kCapture;
  EXPECT_EQ(Verdict(trace),
            "a recording of graph capture at the engine's start, not of a rank that serves: graphs "
            "are captured and do not run, so no device time");
  trace.facts.role = TraceRole::kMerged;
  trace.notes.Add(NoteId::kMixedRanks, "");
  EXPECT_EQ(
      Verdict(trace),
      "no figure of a rank: the file holds several ranks as one, and nothing tells whose work "
      "is whose; analyze the ranks' own files together");
}

TEST(Verdict, OfAPartOfATrace) {
  TraceAnalysis trace;
  trace.counts.total = 1;
  trace.scope.device = "3";
  EXPECT_EQ(Verdict(trace), "no device work in this part of the trace, so no device time");
}

TEST(Verdict, OfOneTraceOfARunSaysHowManyAreMissing) {
  RunAnalysis run = TwoRanksForTest();
  EXPECT_EQ(Verdict(PlainTrace(), run.ranks),
            "GPU busy 60.0 % of 1.00 ms; the host launched late for at least 30.0 % of the window; "
            "copies "
            "with no kernel beside them take 5.0 % of the window; 1 of 3 ranks missing");
}

TEST(Verdict, ComparesRanksNotTheFilesOfTheirStages) {
  RunAnalysis run = TwoRanksForTest();
  run.ranks.rows.push_back(run.ranks.rows[1]);
  run.ranks.rows[1].group = 0;
  run.ranks.rows[1].rank = run.ranks.rows[1].identity.rank = 0;
  run.ranks.rows[2].compute = {1'000'000};
  EXPECT_THAT(Verdict(run), HasSubstr("rank 0 computes longest: 1.20 ms, 20.0 % more"));
  EXPECT_EQ(TotalsOf(run).devices.devices, 1u);
}

TEST(Verdict, OfSeveralRecordingsTheRangeIsOfAll) {
  RunAnalysis run = TwoRanksForTest();
  run.ranks.recordings = 2;
  run.ranks.least_busy = 0.65;
  EXPECT_THAT(Verdict(run), HasSubstr("(60.0 % to 70.0 %, in 2 recordings)"));
  run.ranks.least_busy_of_all = run.ranks.most_busy_of_all;
  EXPECT_THAT(Verdict(run), HasSubstr("over 2 traces, "));
}

TEST(Verdict, OfARun) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) trace.span = trace.devices[0].window;
  EXPECT_EQ(
      Verdict(run),
      "GPUs busy 65.0 % of the window over 2 traces (60.0 % to 70.0 %); the host launched late for "
      "at least 30.0 % of the window; rank 1 computes longest: 650 us, 18.2 % more than rank 0; "
      "1 of 3 ranks missing");
  EXPECT_EQ(BriefVerdict(run),
            "GPUs busy 65.0 % of the window over 2 traces; the host launched late for at least "
            "30.0 % of the window; 1 of 3 ranks missing");
}

TEST(Verdict, WhereTheEngineTookNoStepAsksForRequests) {
  TraceAnalysis trace;
  trace.counts.total = 1;
  trace.notes.Add(NoteId::kNoEngineStep, "");
  constexpr const char* kText =
      "the engine took no step while the profiler ran, so there is no device time: send "
      "requests while it records";
  EXPECT_EQ(Verdict(trace), kText);
  RunAnalysis run;
  run.traces = {trace, trace};
  EXPECT_EQ(Verdict(run), kText);
  run.traces[1].notes = {};
  EXPECT_THAT(Verdict(run), testing::StartsWith("no device work in these traces"));
}

TEST(Verdict, ACallIsNamedForARunOnlyWhereAllTracesNameIt) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) {
    trace.idle.causes = {{IdleCause::kInLaunchCall, {300'000}, 1, "cudaLaunchKernel"}};
  }
  EXPECT_THAT(Verdict(run), HasSubstr("the host was inside cudaLaunchKernel for"));
  run.traces[1].idle.causes[0].call = "cudaGraphLaunch";
  EXPECT_THAT(Verdict(run), HasSubstr("the host was inside launch calls for"));
}

TEST(Verdict, OnlyWhatIsTheProfilersOwnIsBlamedOnIt) {
  TraceAnalysis trace = GpuTraceForTest();
  const auto verdict = [&](const std::string& overhead) {
    trace.idle.causes = {{IdleCause::kProfiler, {300'000}, 1, overhead}};
    return Verdict(trace);
  };
  EXPECT_THAT(verdict("Activity Buffer Request"),
              HasSubstr("the profiler itself held the launching thread up for"));
  for (const std::string name : {"Command Buffer Full", "a kind of tomorrow"}) {
    EXPECT_THAT(verdict(name), HasSubstr("what the profiler calls overhead held the "));
    EXPECT_THAT(verdict(name), HasSubstr("most of it " + name));
  }
  trace.facts.python_stacks = true;  // stacks do not lengthen it
  EXPECT_EQ(Caveat(trace), "");
}

}  // namespace
}  // namespace tacho
