#include "report/words/caveat.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/results_for_test.h"

namespace tacho {
namespace {

TEST(Caveat, SaysWhatSpeaksAgainstTheVerdict) {
  TraceAnalysis trace = GpuTraceForTest();
  EXPECT_EQ(Caveat(trace), "");
  trace.facts.python_stacks = true;
  EXPECT_EQ(Caveat(trace),
            "Python stacks slowed the host, so its share of the idle time is inflated");
  trace.idle.causes[0].cause = IdleCause::kWaiting;  // a cause that is not due to the host
  EXPECT_EQ(Caveat(trace), "");
  trace = GpuTraceForTest();
  trace.facts.python_stacks = true;
  trace.notes.Add(NoteId::kTruncatedJson, "byte 5");
  EXPECT_THAT(Caveat(trace), testing::HasSubstr("events are missing, so what looks idle may have "
                                                "been busy; Python"));
  RunAnalysis run = TwoRanksForTest();
  EXPECT_EQ(Caveat(run), "");
  run.traces[1].notes.Add(NoteId::kProducerLostEvents, "");
  EXPECT_THAT(Caveat(run), testing::StartsWith("in 1 of 2 traces the profiler says that"));
}

// For one trace the text says when the recorder stopped and how this is known. Several traces have
// different times.
TEST(Caveat, OfSeveralTracesWhoseRecordersStopped) {
  RunAnalysis run = TwoRanksForTest();
  for (TraceAnalysis& trace : run.traces) trace.integrity.stops.stopped = TimeNs{600'000};
  EXPECT_EQ(Caveat(run),
            "in 2 of 2 traces calls and GPU work were recorded for a part of the trace only");
  run.traces[0].integrity.stops.stopped.reset();
  EXPECT_THAT(Caveat(run), testing::StartsWith("in 1 of 2 traces calls and GPU work were"));
}

TEST(Caveat, WorkFromBeforeTheRecordingMayHaveRun) {
  TraceAnalysis trace = GpuTraceForTest();
  trace.idle.may_be_busy = {trace.span.length().ns / 20};
  EXPECT_EQ(Caveat(trace), "") << "too little to matter";
  trace.idle.may_be_busy = {trace.span.length().ns / 4};
  EXPECT_EQ(Caveat(trace),
            "the first work that was launched waited long while nothing recorded ran: the device "
            "may have been busy with work launched before the recording began");
}

}  // namespace
}  // namespace tacho
