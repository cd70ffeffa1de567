#include "analysis/evidence/device_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "analysis/analyze.h"
#include "analysis/evidence/impossible_work.h"
#include "analysis/evidence/recorder_stops.h"
#include "analysis/prepared_trace.h"
#include "analysis/scope_for_test.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

using State = DeviceClock::State;

// Kernels that start 6 us after their launch call begins, one every 100 us. Every tenth is waited
// for, and the wait returns 4 us after the kernel's end. `off`: the error of the device's clock at
// a host time.
Trace Recorded(const std::function<int64_t(int64_t)>& off, bool with_waits = true,
               int count = 100) {
  TraceBuilder b;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = 1'000'000 + 100'000 * i;
    b.Host("cuda_runtime", "hipLaunchKernel",
           {.start = at, .duration = 3'000, .correlation = i + 1});
    const int64_t start = at + 6'000;
    b.Kernel("gemm", {.start = start + off(start), .duration = 60'000, .correlation = i + 1});
    if (with_waits && i % 10 == 9)
      b.Host("cuda_runtime", "hipDeviceSynchronize", {.start = at + 4'000, .duration = 66'000});
  }
  return std::move(b).Finish();
}

std::vector<DeviceClock> ClocksOf(const Trace& trace) {
  return CheckDeviceClocks(TrackIndex(trace), LinkLaunches(trace));
}

TEST(DeviceClock, ThatIsRightHasZeroWithinItsBounds) {
  const Trace trace = Recorded([](int64_t) { return 0; });
  const std::vector<DeviceClock> clocks = ClocksOf(trace);
  ASSERT_EQ(clocks.size(), 1u);
  EXPECT_EQ(clocks[0].state, State::kRight);
  EXPECT_EQ(clocks[0].launched, 100u);
  EXPECT_EQ(clocks[0].before_launch, 0u);
  EXPECT_EQ(clocks[0].least, DurationNs{-6'000});
  EXPECT_EQ(clocks[0].most, DurationNs{4'000});
}

TEST(DeviceClock, ThatIsOffByAConstantHasItWithinItsBounds) {
  for (const int64_t off : {-200'000, -20'000, 20'000, 3'000'000}) {
    const Trace trace = Recorded([&](int64_t) { return off; });
    const DeviceClock clock = ClocksOf(trace).front();
    EXPECT_EQ(clock.state, State::kOff) << off;
    EXPECT_EQ(clock.least, DurationNs{-off - 6'000});
    EXPECT_EQ(clock.most, DurationNs{-off + 4'000});
    EXPECT_EQ(clock.before_launch > 0, off < 0);
    EXPECT_EQ(clock.after_wait > 0, off > 0);
  }
  const Trace trace = Recorded([](int64_t) { return -200'000; }, false);
  const DeviceClock clock = ClocksOf(trace).front();
  EXPECT_EQ(clock.state, State::kOff);
  EXPECT_EQ(clock.least, DurationNs{194'000});
  EXPECT_FALSE(clock.most.has_value());
}

TEST(DeviceClock, ThatDriftsHasNoConstant) {
  const Trace trace = Recorded([](int64_t at) { return -at / 50; });
  const DeviceClock clock = ClocksOf(trace).front();
  EXPECT_EQ(clock.state, State::kDrifts);
  ASSERT_TRUE(clock.least_at_start && clock.least_at_end);
  EXPECT_LT(*clock.least_at_start, *clock.least_at_end);
}

// Without a common clock no cause and no delay is reported. Figures that need only the device's
// clock remain.
TEST(DeviceClock, ThatIsOffLeavesBusyAndIdleTime) {
  const auto analyze = [](const Trace& trace) { return AnalyzeTrace(trace, BuiltInRules()); };
  const Trace right_trace = Recorded([](int64_t) { return 0; });
  const TraceAnalysis right = analyze(right_trace);
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const int64_t off = std::uniform_int_distribution<int64_t>(-400'000, 400'000)(random);
    const Trace trace = Recorded([&](int64_t) { return off; });
    const TraceAnalysis moved = analyze(trace);
    EXPECT_EQ(moved.devices[0].busy, right.devices[0].busy);
    EXPECT_EQ(moved.devices[0].idle, right.devices[0].idle);
    if (off > -5'000 && off < 3'000) continue;
    if (moved.integrity.common_clock()) continue;
    EXPECT_EQ(moved.launches.delay.count, 0u);
    ASSERT_EQ(moved.idle.causes.size(), 1u);
    EXPECT_EQ(moved.idle.causes[0].cause, IdleCause::kUnknown);
    EXPECT_EQ(moved.idle.causes[0].total, right.devices[0].idle);
    EXPECT_EQ(moved.notes.CountOf(NoteId::kDeviceClock) > 0, true);
  }
}

TEST(DeviceClock, OfWaitsThatMayBeForAnotherDeviceSaysNothing) {
  TraceBuilder b;
  for (const std::string_view device : {"0", "1"}) {
    const int64_t correlation = device == "0" ? 1 : 2;
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 0, .duration = 2'000, .correlation = correlation});
    b.Kernel("k", {.device = device,
                   .start = 5'000,
                   .duration = device == "0" ? 10'000 : 900'000,
                   .correlation = correlation});
  }
  b.Host("cuda_runtime", "cudaDeviceSynchronize", {.start = 4'000, .duration = 12'000});
  const Trace trace = std::move(b).Finish();
  for (const DeviceClock& clock : ClocksOf(trace)) {
    EXPECT_EQ(clock.state, State::kRight);
    EXPECT_EQ(clock.waited, 0u);
  }
}

TEST(ImpossibleWork, IsNoneWherePiecesOverlapAsProgrammaticLaunchesDo) {
  TraceBuilder b;
  for (int64_t i = 0; i < 50; ++i) {
    b.Host("cuda_runtime", "cudaLaunchKernelExC",
           {.start = 1'000 * i, .duration = 500, .correlation = i + 1});
    b.Kernel("k", {.start = 100'000 + 10'000 * i, .duration = 18'000, .correlation = i + 1});
  }
  const Trace trace = std::move(b).Finish();
  const ImpossibleWork work = FindImpossibleWork(TrackIndex(trace), LinkLaunches(trace));
  EXPECT_EQ(work.compared, 49u);
  EXPECT_EQ(work.count(), 0u);
}

TEST(ImpossibleWork, IsWhatStartsOutOfOrderOrInBursts) {
  for (const bool burst : {false, true}) {
    TraceBuilder b;
    for (int64_t i = 0; i < 60; ++i) {
      b.Host("cuda_runtime", "hipLaunchKernel",
             {.start = 10'000 * i, .duration = 500, .correlation = i + 1});
      const int64_t start = burst ? 100'000 * (i / 20 + 1)  // rows of a flush start together
                                  : 10'000 * (i + (i % 5 == 0 ? 8 : 2));  // every fifth lags behind
      b.Kernel("k", {.start = start, .duration = 8'000, .correlation = i + 1});
    }
    const Trace trace = std::move(b).Finish();
    const ImpossibleWork work = FindImpossibleWork(TrackIndex(trace), LinkLaunches(trace));
    EXPECT_GT(burst ? work.stacked : work.out_of_order, 9u);
    EXPECT_TRUE(work.times_refused());
    const TraceAnalysis analysis = AnalyzeTrace(trace, BuiltInRules());
    EXPECT_TRUE(analysis.devices.empty());
    EXPECT_EQ(analysis.launches.gpu_events, 60u);
    EXPECT_GT(analysis.notes.CountOf(NoteId::kTimesRefused), 0u);
  }
}

// Steps of 1 ms. Only the steps from `first` to before `last`, while calls were recorded, have a
// launch.
Trace Stepped(int steps, int first, int last, std::string_view category = "user_annotation") {
  TraceBuilder b;
  for (int64_t i = 0; i < steps; ++i) {
    const std::string name = "execute_context_0(0)_generation_8(" + std::to_string(i) + ")";
    b.Host(category, name, {.start = 1'000'000 * i, .duration = 900'000});
    if (i < first || i >= last) continue;
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 1'000'000 * i + 1'000, .duration = 2'000, .correlation = i + 1});
    b.Kernel("k", {.start = 1'000'000 * i + 9'000, .duration = 700'000, .correlation = i + 1});
  }
  return std::move(b).Finish();
}

TEST(RecorderStops, WhereRangesThatHeldCallsGoOnWithout) {
  const auto stops_of = [](const Trace& trace) { return FindRecorderStops(TrackIndex(trace)); };
  const Trace whole = Stepped(30, 0, 30), cut = Stepped(30, 0, 10), late = Stepped(30, 20, 30);
  EXPECT_FALSE(stops_of(whole).any());
  const RecorderStops stopped = stops_of(cut);
  ASSERT_TRUE(stopped.stopped.has_value());
  EXPECT_EQ(*stopped.stopped, TimeNs{9'709'000}) << "the end of the last work";
  EXPECT_EQ(stopped.after, 20u);
  EXPECT_FALSE(stopped.began.has_value());
  EXPECT_EQ(stopped.outside({{9'000'000}, {9'800'000}}), DurationNs{91'000});
  EXPECT_EQ(stopped.outside({{10'000'000}, {11'000'000}}), DurationNs{1'000'000});
  EXPECT_EQ(stopped.outside({{0}, {9'000'000}}), DurationNs{0});
  const RecorderStops began = stops_of(late);
  ASSERT_TRUE(began.began.has_value());
  EXPECT_EQ(*began.began, TimeNs{20'001'000});
  EXPECT_EQ(began.before, 20u);
  EXPECT_EQ(began.outside({{19'000'000}, {21'000'000}}), DurationNs{1'001'000});
}

// A wait for the previous step's event, or a copy from pageable memory, ends while later work still
// runs on the only stream.
TEST(DeviceClock, IsNotJudgedByWhatWaitsForSomethingElse) {
  TraceBuilder b;
  for (int64_t i = 0; i < 60; ++i) {
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 50'000 * i, .duration = 3'000, .correlation = i + 1});
    b.Kernel("gemm", {.start = 100'000 * i + 9'000, .duration = 90'000, .correlation = i + 1});
    b.Host("cuda_runtime", i % 2 == 0 ? "cudaEventSynchronize" : "cudaMemcpyAsync",
           {.start = 50'000 * i + 5'000, .duration = 30'000});
  }
  const Trace trace = std::move(b).Finish();
  const auto clocks = CheckDeviceClocks(TrackIndex(trace), LinkLaunches(trace));
  ASSERT_EQ(clocks.size(), 1u);
  EXPECT_EQ(clocks[0].state, DeviceClock::State::kRight);
  EXPECT_EQ(clocks[0].waited, 0u);
}

// A deep queue keeps running although the host makes no more calls.
TEST(RecorderStops, AreNoneWhileWorkRunsOn) {
  TraceBuilder b;
  for (int64_t i = 0; i < 30; ++i) {
    b.Host("user_annotation", "ProfilerStep#" + std::to_string(i),
           {.start = 1'000 * i, .duration = 900});
    if (i >= 20) continue;
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 1'000 * i + 10, .duration = 20, .correlation = i + 1});
    b.Kernel("k", {.start = 1'000 + 10'000 * i, .duration = 9'000, .correlation = i + 1});
  }
  const Trace trace = std::move(b).Finish();
  EXPECT_FALSE(FindRecorderStops(TrackIndex(trace)).any());
}

// The engine had no work: its loop continues without calls, as it also did between steps.
TEST(RecorderStops, AreNoneWhereRangesWithoutCallsCameBefore) {
  TraceBuilder b;
  for (int64_t i = 0; i < 40; ++i) {
    b.Host("user_annotation", "scheduler.run_batch", {.start = 1'000 * i, .duration = 900});
    if (i < 20 && i != 7) {
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.start = 1'000 * i + 10, .duration = 20, .correlation = i + 1});
      b.Kernel("k", {.start = 1'000 * i + 100, .duration = 50, .correlation = i + 1});
    }
  }
  const Trace trace = std::move(b).Finish();
  EXPECT_FALSE(FindRecorderStops(TrackIndex(trace)).any());
}

// A single kind of operator may later run on host tensors alone.
TEST(RecorderStops, OfOperatorsTakeSeveralKinds) {
  const Trace trace = Stepped(30, 0, 10, "cpu_op");
  EXPECT_FALSE(FindRecorderStops(TrackIndex(trace)).any());
}

// 12 kinds of operators launch kernels; `outside` of them also ran before on host tensors.
TEST(RecorderStops, OfOperatorsTakeMostOfThoseThatLaunch) {
  const auto began = [](int64_t outside) {
    TraceBuilder b;
    int64_t at = 0;
    const auto run = [&](int64_t kind, bool launches) {
      b.Host("cpu_op", "aten::op_" + std::string(1, static_cast<char>('a' + kind)),
             {.start = at, .duration = 9'000});
      if (launches) {
        b.Host("cuda_runtime", "cudaLaunchKernel",
               {.start = at + 1'000, .duration = 2'000, .correlation = at});
        b.Kernel("k", {.start = at + 5'000, .duration = 1'000, .correlation = at});
      }
      at += 10'000;
    };
    for (int64_t i = 0; i < 48; ++i) run(i % outside, false);
    for (int64_t i = 0; i < 48; ++i) run(i % 12, true);
    const Trace trace = std::move(b).Finish();
    return FindRecorderStops(TrackIndex(trace)).began.has_value();
  };
  EXPECT_FALSE(began(3));
  EXPECT_TRUE(began(12));
}

TEST(RecorderStops, LeaveTheRestOfTheRecordingOutOfShares) {
  const Trace trace = Stepped(30, 0, 10);
  const TraceAnalysis analysis = AnalyzeTrace(trace, BuiltInRules());
  EXPECT_EQ(analysis.recorded(), (Interval{TimeNs{0}, TimeNs{9'709'000}}));
  EXPECT_TRUE(analysis.notes.lost_data());
}

// Kernels of 500 us, one each ms. For each kernel a call waits for a stream for `wait(i)` ns.
DeviceClock ClockWithWaits(const std::function<int64_t(int64_t)>& wait) {
  TraceBuilder b;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = 1'000'000 * i;
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = at, .duration = 3'000, .correlation = i + 1});
    b.Kernel("gemm", {.start = at + 9'000, .duration = 500'000, .correlation = i + 1});
    b.Host("cuda_runtime", "cudaStreamSynchronize", {.start = at + 5'000, .duration = wait(i)});
  }
  return ClocksOf(std::move(b).Finish()).front();
}

// A wait for a stream without work takes no time, and the file does not say which stream it was
// for.
TEST(DeviceClock, OfWaitsForAnIdleStreamSaysNothing) {
  const DeviceClock clock = ClockWithWaits([](int64_t) { return 2'000; });
  EXPECT_EQ(clock.state, State::kRight);
  EXPECT_EQ(clock.waited, 0u);
}

// One wait for an idle stream took long, while the other waits show that the clock is right.
TEST(DeviceClock, OfOneSlowWaitForAnIdleStreamSaysNothing) {
  const DeviceClock clock = ClockWithWaits([](int64_t i) { return i == 7 ? 12'000 : 600'000; });
  EXPECT_EQ(clock.state, State::kRight);
  EXPECT_EQ(clock.waited, 19u);
}

// An engine takes steps without tokens while it waits for others.
TEST(RecorderStops, AreNoneWhereStepsHaveNoTokens) {
  TraceBuilder b;
  for (int64_t i = 0; i < 30; ++i) {
    const bool works = i < 20;
    b.Host("user_annotation",
           works ? "execute_context_0(0)_generation_8(8)" : "execute_context_0(0)_generation_0(0)",
           {.start = 1'000'000 * i, .duration = 900'000});
    if (!works) continue;
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.start = 1'000'000 * i + 1'000, .duration = 2'000, .correlation = i + 1});
    b.Kernel("k", {.start = 1'000'000 * i + 9'000, .duration = 70'000, .correlation = i + 1});
  }
  const Trace trace = std::move(b).Finish();
  EXPECT_FALSE(FindRecorderStops(TrackIndex(trace)).any());
  const PreparedTrace prepared = Prepare(trace, BuiltInRules());
  EXPECT_EQ(prepared.steps.steps[19].device_busy, DurationNs{70'000});
}

// Of steps on two threads, the one whose thread launched the work is marked as incomplete.
TEST(PreparedTrace, MarksTheStepOfTheThread) {
  TraceBuilder b;
  for (int64_t i = 0; i < 20; ++i) {
    for (const std::string_view tid : {"1", "2"}) {
      const bool first = tid == "1";
      const int64_t at = 1'000'000 * i + (first ? 0 : 1'000), correlation = 2 * i + (first ? 1 : 2);
      b.Host("user_annotation", "execute_context_0(0)_generation_8(8)",
             {.tid = tid, .start = at, .duration = 900'000});
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.tid = tid, .start = at + 2'000, .duration = 2'000, .correlation = correlation});
      if (first && i == 9) continue;
      b.Kernel("k", {.stream = first ? "7" : "8",
                     .start = at + 9'000,
                     .duration = 50'000,
                     .correlation = correlation});
    }
  }
  const Trace trace = std::move(b).Finish();
  const PreparedTrace prepared = Prepare(trace, BuiltInRules());
  for (const Step& step : prepared.steps.steps)
    EXPECT_EQ(step.lost_work, step.when.start == TimeNs{9'000'000});
}

// A step that seems to have launched nothing, though its work is there. A step that has nothing to
// do launches nothing.
TEST(PreparedTrace, MarksStepsWhoseLaunchCallsAreMissing) {
  TraceBuilder b;
  for (int64_t i = 0; i < 20; ++i) {
    const int64_t at = 1'000'000 * i;
    const bool is_idle = i == 3, lacks_call = i >= 5 && i < 8;
    b.Host(
        "user_annotation",
        is_idle ? "execute_context_0(0)_generation_0(0)" : "execute_context_0(0)_generation_8(8)",
        {.start = at, .duration = 900'000});
    if (is_idle) continue;
    if (!lacks_call)
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.start = at + 2'000, .duration = 2'000, .correlation = i + 1});
    b.Kernel("k", {.stream = "7", .start = at + 9'000, .duration = 50'000, .correlation = i + 1});
  }
  const Trace trace = std::move(b).Finish();
  const PreparedTrace prepared = Prepare(trace, BuiltInRules());
  std::vector<int64_t> marked;
  for (const Step& step : prepared.steps.steps) {
    if (step.lost_work) marked.push_back(step.when.start.ns / 1'000'000);
  }
  // The step before them may have done the first of the work.
  EXPECT_THAT(marked, testing::ElementsAre(4, 5, 6, 7));
}

}  // namespace
}  // namespace tacho
