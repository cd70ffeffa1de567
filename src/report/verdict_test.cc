#include "report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/device_totals.h"
#include "report/results_for_test.h"

namespace tacho {
namespace {

TEST(Verdict, SaysWhyTheGpuWasIdle) {
  EXPECT_EQ(Verdict(GpuTraceForTest()),
            "GPU busy 60.0 % of 1.00 ms; the host launched late for 75.0 % of the idle time");
}

TEST(Verdict, SaysWhatABusyGpuDid) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.devices[0].busy = {950'000};
  trace.devices[0].idle = {50'000};
  trace.devices[0].exposed_comm = {100'000};
  EXPECT_EQ(Verdict(trace),
            "GPU busy 95.0 % of 1.00 ms; gemm.dense takes 66.7 % of the kernel time; "
            "communication is exposed for 10.0 % of the window");
}

TEST(Verdict, OfACpuEngineItsOperators) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.devices[0].on_host = true;
  EXPECT_EQ(Verdict(trace),
            "CPU engine: operators run for 60.0 % of 1.00 ms; gemm.dense takes 66.7 % of the "
            "operator time");
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
  EXPECT_EQ(Verdict(trace), "no device work in this trace, so no device time to tell");
  trace.facts.role = TraceRole::kFrontend;
  EXPECT_EQ(Verdict(trace),
            "a front-end's trace: no operator and no GPU work in it, so no device time to tell");
}

TEST(Verdict, NamesAnAcceleratorThatIsNotRead) {
  TraceAnalysis trace;
  trace.counts.total = 1320;
  trace.facts.by_category = {{"mtia_ccp_events", 1313}, {"mtia_runtime", 7}};
  EXPECT_EQ(Verdict(trace),
            "device time cannot be told: 1313 events are of an accelerator that is not read "
            "(mtia_ccp_events)");
}

TEST(Verdict, OfAPartOfATrace) {
  TraceAnalysis trace;
  trace.counts.total = 1;
  trace.scope.device = "3";
  EXPECT_EQ(Verdict(trace), "no device work in this part of the trace, so no device time to tell");
}

TEST(Verdict, OfOneTraceOfARunSaysHowManyAreMissing) {
  RunAnalysis run = TwoRanksForTest();
  EXPECT_EQ(Verdict(run.traces[0], run.ranks),
            "GPU busy 60.0 % of 1.00 ms; the host launched late for 75.0 % of the idle time; "
            "1 of 3 ranks missing");
}

TEST(Verdict, ComparesRanksNotTheFilesOfTheirStages) {
  RunAnalysis run = TwoRanksForTest();
  run.ranks.rows.push_back(run.ranks.rows[1]);
  run.ranks.rows[1].group = 0;
  run.ranks.rows[1].rank = run.ranks.rows[1].identity.rank = 0;
  run.ranks.rows[2].compute = {1'000'000};
  EXPECT_THAT(Verdict(run), testing::HasSubstr("rank 0 computes longest: 1.20 ms, 20.0 % more"));
  EXPECT_EQ(TotalsOf(run).devices.devices, 1u);
}

TEST(Verdict, OfSeveralRecordingsTheRangeIsOfOne) {
  RunAnalysis run = TwoRanksForTest();
  run.ranks.rows.push_back(run.ranks.rows[1]);
  run.ranks.rows[2].recording = 1;
  EXPECT_THAT(Verdict(run), testing::HasSubstr("(60.0 % to 70.0 % within one recording)"));
  run.ranks.least_busy = run.ranks.most_busy;
  EXPECT_THAT(Verdict(run), testing::HasSubstr("over 2 traces; the host"));
}

TEST(Verdict, OfARun) {
  EXPECT_EQ(
      Verdict(TwoRanksForTest()),
      "GPUs busy 65.0 % of the window over 2 traces (60.0 % to 70.0 %); the host launched late for "
      "85.7 % of the idle time; rank 1 computes longest: 650 us, 18.2 % more than the median of "
      "the "
      "others; 1 of 3 ranks missing");
}

TEST(Caveat, SaysWhatSpeaksAgainstTheVerdict) {
  TraceAnalysis trace = GpuTraceForTest();
  EXPECT_EQ(Caveat(trace), "");
  trace.facts.python_stacks = true;
  EXPECT_EQ(Caveat(trace),
            "Python stacks were recorded, which slows the host: its part of the idle time is "
            "inflated");
  trace.devices[0].idle = {0};  // nothing of it is the host's
  EXPECT_EQ(Caveat(trace), "");
  trace = GpuTraceForTest();
  trace.facts.python_stacks = true;
  trace.notes.Add(NoteId::kTruncatedJson, "byte 5");
  EXPECT_THAT(Caveat(trace), testing::HasSubstr("events are missing, so what looks idle may have "
                                                "been busy; Python"));
  RunAnalysis run = TwoRanksForTest();
  EXPECT_EQ(Caveat(run), "");
  run.traces[1].header.producer_log = {"WARNING: Exceeded max GPU buffer count (1001 > 1000)"};
  EXPECT_THAT(Caveat(run), testing::StartsWith("in 1 of 2 traces the profiler says that"));
}

TEST(Verdict, ACallIsNamedForARunOnlyWhereAllTracesNameIt) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) {
    trace.idle.causes = {{IdleCause::kInLaunchCall, {300'000}, 1, "cudaLaunchKernel"}};
  }
  EXPECT_THAT(Verdict(run), testing::HasSubstr("the host was inside cudaLaunchKernel for"));
  run.traces[1].idle.causes[0].call = "cudaGraphLaunch";
  EXPECT_THAT(Verdict(run), testing::HasSubstr("the host was inside launch calls for"));
}

}  // namespace
}  // namespace tacho
