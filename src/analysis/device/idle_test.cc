#include "analysis/device/idle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "model/trace_builder.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::Pair;

// Also checks that the stretches agree with the table.
IdleTable IdleOf(TraceBuilder&& builder, const Scope& scope = {}, size_t max_gaps = 50,
                 const InFlight* in_flight = nullptr) {
  static const Classifier classifier = *Classifier::Create();
  const Trace trace = std::move(builder).Finish();
  std::vector<IdleStretch> stretches;
  IdleTable table =
      AttributeIdle(TrackIndex(trace), CollectDeviceWork(TrackIndex(trace), classifier, scope),
                    LinkLaunches(trace), scope, in_flight, max_gaps,
                    [&](const IdleStretch& stretch) { stretches.push_back(stretch); });
  std::map<IdleCause, DurationNs> by_cause, of_table;
  for (size_t i = 0; i < stretches.size(); ++i) {
    EXPECT_FALSE(stretches[i].when.empty());
    by_cause[stretches[i].cause] += stretches[i].when.length();
    if (i == 0 || stretches[i].device != stretches[i - 1].device) continue;
    EXPECT_LE(stretches[i - 1].when.end, stretches[i].when.start);
  }
  for (const IdleCauseRow& row : table.causes) of_table[row.cause] = row.total;
  EXPECT_EQ(by_cause, of_table);
  return table;
}

std::map<std::string, int64_t> Causes(const IdleTable& table) {
  std::map<std::string, int64_t> causes;
  for (const IdleCauseRow& row : table.causes)
    causes[std::string(IdleCauseId(row.cause))] = row.total.ns;
  return causes;
}

void Launch(TraceBuilder& builder, int64_t start, int64_t end, int64_t correlation,
            std::string_view name = "cudaLaunchKernel") {
  builder.Host("cuda_runtime", name,
               {.pid = "5",
                .tid = "6",
                .start = start,
                .duration = end - start,
                .correlation = correlation});
}

TEST(Idle, TellsWhenTheHostWasLate) {
  TraceBuilder builder;
  builder.Kernel("first", {.start = 0, .duration = 100});
  Launch(builder, 160, 170, 1);
  builder.Kernel("second", {.start = 190, .duration = 10, .correlation = 1});
  const IdleTable table = IdleOf(std::move(builder));
  EXPECT_EQ(table.window.ns, 200);
  EXPECT_EQ(table.busy.ns, 110);
  EXPECT_THAT(Causes(table), ElementsAre(Pair("host-late", 60), Pair("in-launch-call", 10),
                                         Pair("launch-latency", 20)));
  ASSERT_EQ(table.gaps.size(), 1u);
  EXPECT_EQ(table.gaps[0].before, "first");
  EXPECT_EQ(table.gaps[0].after, "second");
  EXPECT_EQ(table.gaps[0].cause, IdleCause::kHostLate);
  EXPECT_EQ(table.gaps[0].host_track, "5/6");
  EXPECT_EQ(table.gaps[0].host, "") << "nothing was recorded on the thread";
  EXPECT_EQ(table.causes[0].count, 1u);
}

TEST(Idle, TellsQueuedWorkFromWorkThatIsStillBeingLaunched) {
  TraceBuilder builder;
  Launch(builder, 10, 20, 1);
  Launch(builder, 90, 120, 2);
  builder.Kernel("a", {.start = 0, .duration = 50});
  builder.Kernel("queued", {.start = 60, .duration = 40, .correlation = 1});
  builder.Kernel("in launch", {.start = 130, .duration = 10, .correlation = 2});
  builder.Kernel("no launch", {.start = 150, .duration = 10, .correlation = 99});
  EXPECT_THAT(Causes(IdleOf(std::move(builder))),
              ElementsAre(Pair("in-launch-call", 20), Pair("launch-latency", 10),
                          Pair("queued", 10), Pair("unknown", 10)));
}

TEST(Idle, OnlyTheFirstPieceOfAGraphWaitsForItsLaunch) {
  TraceBuilder builder;
  builder.Kernel("before", {.start = 0, .duration = 10});
  Launch(builder, 20, 60, 1, "cudaGraphLaunch");
  builder.Kernel("node 1", {.start = 50, .duration = 10, .correlation = 1});
  builder.Kernel("node 2", {.start = 64, .duration = 10, .correlation = 1});
  builder.Kernel("other stream", {.stream = "9", .start = 70, .duration = 10});
  builder.Kernel("node 3", {.start = 83, .duration = 10, .correlation = 1});
  EXPECT_THAT(
      Causes(IdleOf(std::move(builder))),
      ElementsAre(Pair("host-late", 10), Pair("in-graph", 4 + 3), Pair("in-launch-call", 30)));
}

TEST(Idle, NamesWhatTheLaunchingThreadDid) {
  TraceBuilder builder;
  builder.Kernel("first", {.start = 0, .duration = 100});
  const auto host = [&](std::string_view category, std::string_view name, int64_t start,
                        int64_t end) {
    builder.Host(category, name, {.pid = "5", .tid = "6", .start = start, .duration = end - start});
  };
  host("user_annotation", "execute", 50, 400);
  host("cpu_op", "aten::before", 60, 90);
  host("cpu_op", "aten::item", 90, 190);  // 40 of its self time lie in the gap
  host("cuda_runtime", "cudaStreamSynchronize", 110, 160);
  host("cpu_op", "aten::addmm", 195, 230);
  Launch(builder, 200, 210, 1);
  builder.Kernel("second", {.start = 215, .duration = 10, .correlation = 1});
  IdleTable table = IdleOf(std::move(builder));
  ASSERT_EQ(table.gaps.size(), 1u);
  EXPECT_EQ(table.gaps[0].host, "cudaStreamSynchronize");
}

TEST(Idle, AnAnnotationCoversWhatNothingInsideDoes) {
  TraceBuilder builder;
  builder.Kernel("first", {.start = 0, .duration = 100});
  builder.Host("user_annotation", "execute",
               {.pid = "5", .tid = "6", .start = 50, .duration = 400});
  builder.Host("cpu_op", "aten::view", {.pid = "5", .tid = "6", .start = 110, .duration = 20});
  Launch(builder, 200, 210, 1);
  builder.Kernel("second", {.start = 215, .duration = 10, .correlation = 1});
  EXPECT_EQ(IdleOf(std::move(builder)).gaps[0].host, "execute");
}

// Where no operator ran, Python stacks show where the thread was.
TEST(Idle, NamesTheFrameWhereNoOperatorRan) {
  const auto host_of = [](bool with_annotation, bool with_operator, bool with_frames) {
    TraceBuilder builder;
    builder.Kernel("first", {.start = 0, .duration = 100});
    const auto host = [&](std::string_view category, std::string_view name, int64_t start,
                          int64_t end) {
      builder.Host(category, name,
                   {.pid = "5", .tid = "6", .start = start, .duration = end - start});
    };
    if (with_annotation) host("user_annotation", "execute", 10, 500);
    if (with_frames) {
      host("python_function", "vllm/v1/engine/core.py(301): step", 0, 900);
      host("python_function", "vllm/v1/core/sched.py(9): schedule", 101, 180);
      host("python_function", "vllm/v1/core/sched.py(50): short", 110, 140);
      host("python_function", "torch/_ops.py(1267): __call__", 102, 179);
      host("python_function", "<built-in method sleep>", 103, 178);
    }
    if (with_operator) host("cpu_op", "aten::item", 104, 177);
    Launch(builder, 200, 210, 1);
    builder.Kernel("second", {.start = 215, .duration = 10, .correlation = 1});
    return IdleOf(std::move(builder)).gaps[0].host;
  };
  EXPECT_EQ(host_of(false, false, false), "");
  EXPECT_EQ(host_of(false, false, true), "vllm/v1/core/sched.py(9): schedule");
  EXPECT_EQ(host_of(true, false, true), "vllm/v1/core/sched.py(9): schedule");
  EXPECT_EQ(host_of(true, true, true), "aten::item");
  EXPECT_EQ(host_of(true, false, false), "execute");
}

TEST(Idle, ClocksThatAreOffMakeNoNegativeTime) {
  TraceBuilder builder;
  builder.Kernel("first", {.start = 0, .duration = 100});
  Launch(builder, 150, 160, 1);  // seems to start after its own work
  builder.Kernel("second", {.start = 120, .duration = 10, .correlation = 1});
  EXPECT_THAT(Causes(IdleOf(std::move(builder))), ElementsAre(Pair("host-late", 20)));
}

TEST(Idle, TheEndsOfAWindowBelongToIt) {
  TraceBuilder builder;
  Launch(builder, 110, 115, 1);
  builder.Kernel("only", {.start = 130, .duration = 10, .correlation = 1});
  builder.Kernel("elsewhere", {.device = "1", .start = 900, .duration = 10});
  Scope scope;
  scope.window = Interval{TimeNs{100}, TimeNs{200}};
  const IdleTable table = IdleOf(std::move(builder), scope);
  EXPECT_EQ(table.window.ns, 200);
  EXPECT_EQ(table.busy.ns, 10);
  EXPECT_THAT(Causes(table), ElementsAre(Pair("host-late", 10), Pair("in-launch-call", 5),
                                         Pair("launch-latency", 15), Pair("unknown", 60 + 100)));
  ASSERT_EQ(table.gaps.size(), 3u);
  EXPECT_EQ(table.gaps[0].device, "1");
  EXPECT_EQ(table.gaps[1].after, "") << "nothing ended it before the window did";
}

TEST(Idle, ALaunchThatTakesLongIsTheHostsCall) {
  TraceBuilder builder;
  builder.Kernel("first", {.start = 0, .duration = 100});
  Launch(builder, 150, 5'000'150, 1, "hipLaunchKernel");
  builder.Kernel("second", {.start = 7'000'150, .duration = 10, .correlation = 1});
  const IdleTable table = IdleOf(std::move(builder));
  EXPECT_THAT(Causes(table),
              ElementsAre(Pair("host-late", 50), Pair("in-launch-call", 5'000'000),
                          Pair("launch-latency", 1'000'000), Pair("waiting", 1'000'000)));
  EXPECT_EQ(table.causes[0].call, "hipLaunchKernel");
  EXPECT_EQ(table.causes.back().call, "") << "late, not launched";
}

TEST(Idle, WorkBehindAnEventWaits) {
  for (const bool on_another_thread : {false, true}) {
    TraceBuilder builder;
    builder.Kernel("first", {.start = 0, .duration = 100});
    builder.Host("cuda_runtime", "hipStreamWaitEvent",
                 {.pid = "5", .tid = on_another_thread ? "7" : "6", .start = 110, .duration = 5});
    Launch(builder, 120, 130, 1);
    Launch(builder, 320, 330, 2);  // this launch is not behind the wait for the event
    builder.Kernel("second", {.start = 300, .duration = 10, .correlation = 1});
    builder.Kernel("third", {.start = 350, .duration = 10, .correlation = 2});
    std::map<std::string, int64_t> expected{{"host-late", 30}, {"in-launch-call", 20}};
    expected["launch-latency"] = on_another_thread ? 190 : 20;
    if (!on_another_thread) expected["waiting"] = 170;
    EXPECT_EQ(Causes(IdleOf(std::move(builder))), expected);
  }
}

TEST(Idle, AWindowCutsCausesAndDoesNotChangeThem) {
  Scope scope;
  scope.window = Interval{TimeNs{25}, TimeNs{65}};
  TraceBuilder builder;
  Launch(builder, 0, 5, 1, "cudaGraphLaunch");
  for (const int64_t start : {10, 40, 70}) {
    builder.Kernel("node", {.start = start, .duration = 10, .correlation = 1});
  }
  EXPECT_THAT(Causes(IdleOf(std::move(builder), scope)), ElementsAre(Pair("in-graph", 15 + 15)));

  TraceBuilder late;
  late.Kernel("first", {.start = 0, .duration = 10});
  Launch(late, 70, 80, 1);
  late.Kernel("second", {.start = 90, .duration = 10, .correlation = 1});
  const IdleTable table = IdleOf(std::move(late), scope);
  EXPECT_THAT(Causes(table), ElementsAre(Pair("host-late", 40)));
  ASSERT_EQ(table.gaps.size(), 1u);
  EXPECT_EQ(table.gaps[0].when, (Interval{{25}, {65}}));
}

TEST(Idle, WorkWithoutALengthEndsNoGap) {
  TraceBuilder builder;
  builder.Kernel("a", {.start = 0, .duration = 10});
  builder.Kernel("empty", {.start = 50, .duration = 0});
  builder.Kernel("b", {.start = 100, .duration = 10});
  const IdleTable table = IdleOf(std::move(builder));
  ASSERT_EQ(table.gaps.size(), 1u);
  EXPECT_EQ(table.gaps[0].when, (Interval{{10}, {100}}));
  EXPECT_EQ(table.gaps[0].before, "a");
}

TEST(Idle, ACpuEngineWaitsForItsHost) {
  TraceBuilder builder;
  builder.Host("user_annotation", "execute", {.start = 0, .duration = 150});
  builder.Host("cpu_op", "aten::mm", {.start = 10, .duration = 30});
  builder.Host("cpu_op", "aten::mm", {.start = 100, .duration = 30});
  builder.Host("cpu_op", "aten::mm", {.start = 230, .duration = 30});
  const IdleTable table = IdleOf(std::move(builder));
  EXPECT_THAT(Causes(table), ElementsAre(Pair("host", 160)));
  ASSERT_EQ(table.gaps.size(), 2u);
  EXPECT_EQ(table.gaps[0].host, "") << "80 of 100 ns outside of the annotation";
  EXPECT_EQ(table.gaps[1].host, "execute");
  EXPECT_EQ(table.gaps[1].host_track, "1/1");
}

// At a low request rate the GPU waits for requests, not for the host.
TEST(Idle, BetweenStepsIsNotTheHostsDelay) {
  constexpr int64_t kMs = 1'000'000;
  TraceBuilder builder;
  const auto step = [&](int64_t start) {
    builder.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
                 {.pid = "5", .tid = "6", .start = start, .duration = 10 * kMs});
  };
  const auto work = [&](int64_t launch, int64_t correlation) {
    Launch(builder, launch, launch + 1, correlation);
    builder.Kernel("k", {.start = launch + 1, .duration = kMs, .correlation = correlation});
  };
  step(0);
  work(5 * kMs, 1);     // inside the annotation
  work(10'500'000, 2);  // sampling, after the annotation's end; runs to 11.5 ms
  step(500 * kMs);
  work(503 * kMs, 3);
  work(505 * kMs, 4);
  EXPECT_THAT(
      Causes(IdleOf(std::move(builder))),
      ElementsAre(Pair("between-steps", 488'499'999),
                  Pair("host-late", 4'499'999 + 3 * kMs + 999'999), Pair("in-launch-call", 3)));
}

TEST(Idle, WithoutARequestNobodyIsToBlame) {
  const InFlight in_flight{IntervalSet({{{-50}, {120}}, {{150}, {170}}}), {5}};
  TraceBuilder builder;
  builder.Kernel("first", {.start = 0, .duration = 100});
  Launch(builder, 160, 180, 1);
  builder.Kernel("second", {.start = 198, .duration = 2, .correlation = 1});
  const IdleTable table = IdleOf(std::move(builder), {}, 50, &in_flight);
  EXPECT_THAT(Causes(table), ElementsAre(Pair("host-late", 20 + 10), Pair("in-launch-call", 10),
                                         Pair("no-request", 30 + 28)));
  EXPECT_EQ(table.gaps[0].cause, IdleCause::kNoRequest);
  EXPECT_EQ(table.requests, Requests::kKnown);
  EXPECT_EQ(table.requests_uncertainty.ns, 5);
}

TEST(Idle, WhereOthersSendRequestsNobodyKnowsWhenThereWasNone) {
  const InFlight in_flight{IntervalSet(std::vector<Interval>{{{-50}, {20}}}), {}};
  TraceBuilder builder;
  builder.Kernel("first", {.start = 0, .duration = 100});
  Launch(builder, 160, 180, 1);
  builder.Kernel("second", {.start = 190, .duration = 10, .correlation = 1});
  const IdleTable table = IdleOf(std::move(builder), {}, 50, &in_flight);
  EXPECT_THAT(Causes(table), ElementsAre(Pair("host-late", 60), Pair("in-launch-call", 20),
                                         Pair("launch-latency", 10)));
  EXPECT_EQ(table.requests, Requests::kOthers);
}

TEST(Idle, OnACpuEngineItsOperatorsAndStepsAreTold) {
  constexpr int64_t kMs = 1'000'000;
  const InFlight in_flight{IntervalSet({{{0}, {60 * kMs}}, {{101 * kMs}, {102 * kMs}}}), {}};
  for (const bool known : {false, true}) {
    TraceBuilder builder;
    const auto op = [&](std::string_view name, int64_t start, int64_t end) {
      builder.Host("cpu_op", name, {.start = start * kMs, .duration = (end - start) * kMs});
    };
    for (const int64_t start : {0, 100}) {
      builder.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
                   {.start = start * kMs, .duration = 50 * kMs});
    }
    op("aten::mm", 0, 10);
    op("attention", 18, 45);  // 17 of it in no inner operator
    op("aten::mm", 30, 40);
    op("aten::mm", 105, 110);
    const IdleTable table = IdleOf(std::move(builder), {}, 50, known ? &in_flight : nullptr);
    std::map<std::string, int64_t> expected{
        {"in-operator", 17 * kMs}, {"host", 18 * kMs}, {"between-steps", 50 * kMs}};
    if (known) {
      expected = {{"in-operator", 17 * kMs},
                  {"host", 14 * kMs},
                  {"between-steps", 10 * kMs},
                  {"no-request", 44 * kMs}};
    }
    EXPECT_EQ(Causes(table), expected);
    EXPECT_EQ(table.gaps[1].host, "attention");
  }
}

TEST(Idle, KeepsTheLongestGaps) {
  TraceBuilder builder;
  int64_t at = 0;
  for (const int64_t gap : {0, 5, 30, 10, 30, 20}) {
    builder.Kernel("k", {.start = at += gap, .duration = 1});
    ++at;
  }
  const IdleTable table = IdleOf(std::move(builder), {}, 3);
  ASSERT_EQ(table.gaps.size(), 3u);
  EXPECT_EQ(table.gaps[0].when.length().ns, 30);
  EXPECT_EQ(table.gaps[1].when.length().ns, 30);
  EXPECT_LT(table.gaps[0].when.start, table.gaps[1].when.start);
  EXPECT_EQ(table.gaps[2].when.length().ns, 20);
  EXPECT_EQ(table.causes[0].count, 5u);
  EXPECT_TRUE(IdleOf(TraceBuilder(), {}, 0).gaps.empty());
}

// A call stands for a cause if nearly all of its time is in it.
TEST(Idle, ACallWithAPartOfTheTimeIsNotNamed) {
  const auto call = [](int64_t of_other) {
    TraceBuilder builder;
    builder.Kernel("first", {.start = 0, .duration = 100});
    builder.Host("cuda_runtime", "cudaLaunchKernel",
                 {.start = 100, .duration = 100, .correlation = 1});
    builder.Kernel("second", {.start = 200, .duration = 100, .correlation = 1});
    builder.Host("cuda_runtime", "cudaGraphLaunch",
                 {.start = 300, .duration = of_other, .correlation = 2});
    builder.Kernel("third", {.start = 300 + of_other, .duration = 10, .correlation = 2});
    const IdleTable table = IdleOf(std::move(builder));
    const auto row =
        std::ranges::find(table.causes, IdleCause::kInLaunchCall, &IdleCauseRow::cause);
    EXPECT_EQ(row->total.ns, 100 + of_other);
    return row->call;
  };
  EXPECT_EQ(call(20), "cudaLaunchKernel");
  EXPECT_EQ(call(30), "");
}

// The gap is [100, 190); its launch call is [140, 170).
TEST(Idle, WhatTheProfilerRecordedAsOverheadIsItsOwn) {
  const auto causes = [](std::string_view pid, std::string_view tid) {
    TraceBuilder builder;
    builder.Kernel("first", {.start = 0, .duration = 100});
    Launch(builder, 140, 170, 1);
    builder.Kernel("second", {.start = 190, .duration = 10, .correlation = 1});
    const auto add = [&](std::string_view name, int64_t start, int64_t end) {
      builder.Host("overhead", name,
                   {.pid = pid, .tid = tid, .start = start, .duration = end - start});
    };
    add("Runtime Triggered Module Loading", 90, 105);  // 5 of it before the launch
    add("Activity Buffer Request", 145, 165);
    add("Resource", 150, 180);  // overlaps the other and ends after the call
    return IdleOf(std::move(builder));
  };
  for (const auto& [pid, tid] : {std::pair("-1", "0"), {"5", "6"}}) {
    const IdleTable table = causes(pid, tid);
    EXPECT_THAT(Causes(table), ElementsAre(Pair("host-late", 35), Pair("in-launch-call", 5),
                                           Pair("launch-latency", 20), Pair("profiler", 30)));
    const auto row = std::ranges::find(table.causes, IdleCause::kProfiler, &IdleCauseRow::cause);
    EXPECT_EQ(row->call, "Activity Buffer Request");
    EXPECT_EQ(row->count, 1u);
  }
  EXPECT_THAT(
      Causes(causes("5", "99")),
      ElementsAre(Pair("host-late", 40), Pair("in-launch-call", 30), Pair("launch-latency", 20)))
      << "a thread of its own holds up nobody";
}

}  // namespace
}  // namespace tacho
