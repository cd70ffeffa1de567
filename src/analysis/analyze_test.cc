#include "analysis/analyze.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/time.h"
#include "model/trace_builder.h"

namespace tacho {
namespace {

const Classifier& Rules() {
  static const Classifier classifier = Classifier::Create().value();
  return classifier;
}

Notes NotesOf(TraceBuilder&& b) { return AnalyzeTrace(std::move(b).Finish(), Rules()).notes; }

TEST(Analyze, FillsEveryTable) {
  TraceBuilder b;
  b.header().rank = 0;
  b.Host("user_annotation", "execute_context_1(8)_generation_0(0)", {.start = 0, .duration = 100});
  b.Host("cpu_op", "aten::mm", {.start = 10, .duration = 40});
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 20, .duration = 10, .correlation = 1});
  b.Kernel("gemm", {.start = 50, .duration = 30, .correlation = 1});
  b.Memcpy("Memcpy HtoD (Pinned -> Device)", {.start = 100, .duration = 10, .correlation = 2});
  const TraceAnalysis analysis = AnalyzeTrace(std::move(b).Finish(), Rules());
  EXPECT_EQ(analysis.header.rank, 0);
  EXPECT_EQ(analysis.facts.engine, "vllm");
  EXPECT_EQ(analysis.span, (Interval{{0}, {110}}));
  EXPECT_EQ(analysis.counts.total, 5u);
  ASSERT_EQ(analysis.devices.size(), 1u);
  EXPECT_EQ(analysis.devices[0].busy, DurationNs{40});
  EXPECT_EQ(analysis.kernels.rows.size(), 1u);
  EXPECT_EQ(analysis.copies.copies.size(), 1u);
  EXPECT_EQ(analysis.launches.with_launch, 1u);
  EXPECT_EQ(analysis.ops.rows.at(0).device_self, DurationNs{30});
  EXPECT_EQ(analysis.steps.steps.size(), 1u);
  EXPECT_EQ(analysis.idle.window, DurationNs{60});
  ASSERT_EQ(analysis.notes.list().size(), 1u);  // the copy's launch is not in the trace
  EXPECT_EQ(analysis.notes.list()[0].id, NoteId::kOrphanGpuEvents);
  EXPECT_EQ(analysis.notes.list()[0].where, "device 0, stream 7, 100 ns");
}

TEST(Analyze, NotesThatNothingWasRecorded) {
  EXPECT_EQ(NotesOf(TraceBuilder()).CountOf(NoteId::kNoEvents), 1u);

  TraceBuilder gpu_without_events;
  gpu_without_events.header().devices.emplace_back().name = "NVIDIA H100";
  gpu_without_events.Host("cpu_op", "aten::mm", {.duration = 5});
  EXPECT_EQ(NotesOf(std::move(gpu_without_events)).CountOf(NoteId::kNoGpuEvents), 1u);

  TraceBuilder gpu_job;
  gpu_job.header().backend = "nccl";
  gpu_job.Host("cpu_op", "aten::mm", {.duration = 5});
  EXPECT_EQ(NotesOf(std::move(gpu_job)).CountOf(NoteId::kNoGpuEvents), 1u);

  TraceBuilder cpu_engine;
  cpu_engine.Host("cpu_op", "aten::mm", {.duration = 5});
  EXPECT_TRUE(NotesOf(std::move(cpu_engine)).list().empty());

  TraceBuilder front_end;
  front_end.Host("python_function", "run", {.duration = 5});
  EXPECT_TRUE(NotesOf(std::move(front_end)).list().empty());
}

TEST(Analyze, NotesThatAnEngineTookNoStep) {
  const auto count = [](NoteId id, auto add) {
    TraceBuilder b;
    b.header().rank = 0;
    b.header().backend = "nccl";
    b.Host("Trace", "PyTorch Profiler (0)", {.duration = 100});
    add(b);
    return NotesOf(std::move(b)).CountOf(id);
  };
  const auto of_vllm = [](TraceBuilder& b) { b.header().vllm_version = "0.32.0"; };
  EXPECT_EQ(count(NoteId::kNoEngineStep, of_vllm), 1u);
  EXPECT_EQ(count(NoteId::kNoGpuEvents, of_vllm), 0u);
  const auto of_a_cpu = [](TraceBuilder& b) {
    b.header().vllm_version = "0.32.0";
    b.header().backend = "gloo";
  };
  EXPECT_EQ(count(NoteId::kNoEngineStep, of_a_cpu), 1u);
  const auto of_nsys = [](TraceBuilder& b) {
    b.header().format = TraceFormat::kNsys;
    b.header().vllm_version = "0.32.0";
    b.Host("cuda_runtime", "epoll_wait", {.start = 1, .duration = 50});
  };
  EXPECT_EQ(count(NoteId::kNoEngineStep, of_nsys), 0u) << "its ranges were not recorded";
  EXPECT_EQ(count(NoteId::kNoGpuEvents, of_nsys), 1u);
  const auto of_a_core = [&](TraceBuilder& b) {
    of_nsys(b);
    b.Host("user_annotation", "schedule: allocate_slots", {.start = 1, .duration = 5});
  };
  EXPECT_EQ(count(NoteId::kNoEngineStep, of_a_core), 0u) << "its worker is another process";
  const auto of_idle_sglang = [](TraceBuilder& b) {
    b.Host("user_annotation", "scheduler.recv_requests", {.start = 1, .duration = 50});
    b.Host("cpu_op", "gloo:broadcast", {.start = 2, .duration = 5});
    b.Host("cuda_runtime", "cudaDeviceSynchronize", {.start = 90, .duration = 5});
  };
  EXPECT_EQ(count(NoteId::kNoEngineStep, of_idle_sglang), 1u);
  const auto of_idle_sglang_in_nsys = [](TraceBuilder& b) {
    b.header().format = TraceFormat::kNsys;
    b.Host("user_annotation", "scheduler.recv_requests", {.start = 1, .duration = 50});
  };
  EXPECT_EQ(count(NoteId::kNoEngineStep, of_idle_sglang_in_nsys), 1u);
  // Signs that the engine took a step: step annotations, a model's operator, a launch.
  const std::function<void(TraceBuilder&)> signs[] = {
      [](TraceBuilder& b) {
        b.Host("user_annotation", "execute_context_1(8)_generation_0(0)", {.duration = 9});
      },
      [](TraceBuilder& b) { b.Host("cpu_op", "aten::mm", {.duration = 9}); },
      [](TraceBuilder& b) { b.Host("cuda_runtime", "cudaGraphLaunch", {.duration = 9}); },
  };
  for (const auto& sign : signs) {
    const auto with_sign = [&](TraceBuilder& b) {
      of_vllm(b);
      sign(b);
    };
    EXPECT_EQ(count(NoteId::kNoEngineStep, with_sign), 0u);
    EXPECT_EQ(count(NoteId::kNoGpuEvents, with_sign), 1u);
  }
  const auto cut = [&](TraceBuilder& b) {
    of_vllm(b);
    b.notes().Add(NoteId::kTruncatedJson, "");
  };
  EXPECT_EQ(count(NoteId::kNoEngineStep, cut), 0u);
  EXPECT_EQ(count(NoteId::kNoGpuEvents, cut), 0u) << "they come last in a file";
}

TEST(Analyze, WorkThatTellsNoCorrelationIsNoOrphan) {
  TraceBuilder b;
  b.Host("cuda_runtime", "cudaDeviceSynchronize", {.start = 0, .duration = 1});
  b.Kernel("k", {.start = 0, .duration = 10});
  EXPECT_TRUE(NotesOf(std::move(b)).list().empty());
}

TEST(Analyze, NotesWhatTheProducerSaysOfItself) {
  TraceBuilder b;
  b.header().producer_log = {"WARNING: dropped 3 records", "ERROR: x"};
  b.Host("user_annotation", "scheduler.run_batch",
         {.duration = 5, .args = {{"finished", "false"}}});
  b.Host("cpu_op", "aten::mm", {.duration = 5, .args = {{"finished", "true"}}});
  const Notes notes = NotesOf(std::move(b));
  EXPECT_EQ(notes.CountOf(NoteId::kProducerWarning), 1u);
  EXPECT_EQ(notes.CountOf(NoteId::kProducerLostEvents), 1u);
  EXPECT_EQ(notes.CountOf(NoteId::kUnfinishedSpan), 1u);
}

// A trace with one long event and `covered` short kernels inside it, all on one stream.
Notes NotesOfOverlap(int64_t length, int64_t covered, int64_t short_length, bool one_graph) {
  TraceBuilder b;
  b.Kernel("long", {.start = 0, .duration = length, .correlation = 1});
  for (int64_t i = 0; i < covered; ++i) {
    b.Kernel("short",
             {.start = 10 + i, .duration = short_length, .correlation = one_graph ? 1 : 2 + i});
  }
  return NotesOf(std::move(b));
}

TEST(Analyze, ALongOverlapIsAnEventThatSwallowsTheOnesBehindIt) {
  EXPECT_EQ(NotesOfOverlap(kNsPerSecond, 4, 5000, false).CountOf(NoteId::kLongOverlap), 1u);
  EXPECT_EQ(NotesOfOverlap(kNsPerSecond, 3, 5000, false).CountOf(NoteId::kLongOverlap), 0u);
  EXPECT_EQ(NotesOfOverlap(kNsPerSecond, 4, kNsPerSecond / 50, false).CountOf(NoteId::kLongOverlap),
            0u);
  EXPECT_EQ(NotesOfOverlap(500'000, 4, 100, false).CountOf(NoteId::kLongOverlap), 0u);
  // The branches of a graph share one stream and one launch.
  EXPECT_EQ(NotesOfOverlap(kNsPerSecond, 4, 5000, true).CountOf(NoteId::kLongOverlap), 0u);
}

// Copies of a trace have work in common, also if one is cut to a part. Windows that only touch, and
// different devices, do not.
TEST(IsSameTrace, ComparesWhatWasAnalysed) {
  const auto analysis = [](const Scope& scope) {
    TraceBuilder b;
    b.header().trace_id = "A";
    b.Kernel("gemm", {.start = 0, .duration = 100});
    const Trace trace = std::move(b).Finish();
    return AnalyzeTrace(trace, Rules(), {.scope = scope});
  };
  const auto window = [&](int64_t start, int64_t end) {
    return analysis({.window = Interval{{start}, {end}}, .device = ""});
  };
  EXPECT_TRUE(IsSameTrace(analysis({}), analysis({})));
  EXPECT_TRUE(IsSameTrace(window(0, 50), window(0, 50)));
  EXPECT_TRUE(IsSameTrace(window(0, 50), window(49, 100)));
  EXPECT_TRUE(IsSameTrace(analysis({}), window(50, 100)));
  EXPECT_FALSE(IsSameTrace(window(0, 50), window(50, 100)));
  EXPECT_FALSE(IsSameTrace(analysis({.window = {}, .device = "0"}),
                           analysis({.window = {}, .device = "1"})));
  RunAnalysis first, second;
  first.traces.push_back(window(0, 50));
  second.traces.push_back(window(50, 100));
  EXPECT_TRUE(ShareWork(first, first));
  EXPECT_FALSE(ShareWork(first, second));
  second.traces.push_back(window(0, 50));
  EXPECT_TRUE(ShareWork(first, second)) << "a rank of it";
}

TEST(AnalyzeRun, PlacesTracesOnOneClock) {
  RunAnalysis run;
  const auto add = [&](int64_t base_time_ns, int64_t start, bool has_event = true) {
    TraceBuilder b;
    b.header().base_time_ns = base_time_ns;
    if (has_event) b.Kernel("gemm", {.start = start, .duration = 30});
    run.traces.push_back(AnalyzeTrace(std::move(b).Finish(), Rules()));
    run.traces.back().path = std::to_string(run.traces.size());
  };
  constexpr int64_t kBase = 1'700'000'000 * kNsPerSecond;
  add(kBase, 0, false);  // has no event: the next trace is the zero
  add(kBase, 50);
  add(kBase + 7, 60);
  add(kBase, 20);
  add(kBase + 700 * kNsPerSecond, 5);  // recorded at another time
  AnalyzeRun(run);
  std::vector<int64_t> starts, zeros;
  for (const TraceAnalysis& trace : run.traces) {
    starts.push_back(trace.run_start.ns);
    zeros.push_back(trace.run_zero().ns);
  }
  EXPECT_EQ(starts, (std::vector<int64_t>{0, 0, 17, -30, 0}));
  zeros.erase(zeros.begin());
  EXPECT_EQ(zeros, (std::vector<int64_t>{50, 43, 50, 5}));
  run.traces.erase(run.traces.begin(),
                   run.traces.begin() + 2);  // the first remaining trace is now the zero
  AnalyzeRun(run);
  EXPECT_EQ(run.traces[0].run_start.ns, 0);
}

TEST(AnalyzeRun, FillsStagesAndRanks) {
  RunAnalysis run;
  for (const int64_t rank : {0, 2}) {
    TraceBuilder b;
    b.header().rank = rank;
    b.header().world_size = 3;
    b.header().base_time_ns = 1000;
    b.Host("user_annotation", "step[DECODE bs=1]", {.start = 0, .duration = 100});
    b.Kernel("gemm", {.start = 50, .duration = 30});
    TraceAnalysis& analysis = run.traces.emplace_back(AnalyzeTrace(std::move(b).Finish(), Rules()));
    analysis.path = "1-TP-" + std::to_string(rank) + "-DECODE.trace.json.gz";
  }
  AnalyzeRun(run);
  EXPECT_EQ(run.traces[0].facts.stage, "decode");
  ASSERT_EQ(run.ranks.rows.size(), 2u);
  EXPECT_EQ(run.ranks.rows[1].steps, 1u);
  EXPECT_EQ(run.ranks.rows[1].kernel_sum, DurationNs{30});
  EXPECT_EQ(run.ranks.rows[1].start_unix_ns, 1050);
  EXPECT_EQ(run.ranks.missing, (std::vector<MissingRanks>{{"", 3, 1, {{1, 1}}, 1}}));

  run.traces.pop_back();
  AnalyzeRun(run);  // the only trace that is left of a run of three
  EXPECT_EQ(run.ranks.rows.size(), 1u);
  EXPECT_EQ(run.ranks.missing, (std::vector<MissingRanks>{{"", 3, 1, {{1, 2}}, 2}}));
  AnalyzeRun(run, false);
  EXPECT_TRUE(run.ranks.rows.empty());
  EXPECT_TRUE(run.ranks.missing.empty());
}

}  // namespace
}  // namespace tacho
