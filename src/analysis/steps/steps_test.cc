#include "analysis/steps/steps.h"

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace tacho {
namespace {

TEST(FindSteps, OrdersByStartAndMeasuresPeriodsByTrack) {
  TraceBuilder b;
  b.Host("user_annotation", "execute_context_0(0)_generation_1(1)", {.start = 100, .duration = 50});
  b.Host("user_annotation", "execute_context_1(8)_generation_0(0)", {.start = 0, .duration = 30});
  b.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
         {.pid = "2", .start = 50, .duration = 9});
  b.Host("user_annotation", "ProfilerStep#3", {.start = 0, .duration = 500});
  b.Host("user_annotation", "other", {.start = 1, .duration = 2});
  b.Host("cpu_op", "execute_context_9(9)_generation_0(0)", {.start = 3, .duration = 2});
  const Trace trace = std::move(b).Finish();
  const StepTable table = FindSteps(trace);
  EXPECT_EQ(table.method, "annotated");
  ASSERT_EQ(table.steps.size(), 3u);
  EXPECT_EQ(table.steps[0].label.phase, Phase::kPrefill);
  EXPECT_EQ(table.steps[0].period, DurationNs{100});
  EXPECT_EQ(table.steps[1].when, (Interval{{50}, {59}}));
  EXPECT_EQ(table.steps[1].period, std::nullopt);
  EXPECT_EQ(table.steps[2].period, std::nullopt);

  const StepTable part = FindSteps(trace, {.window = Interval{{0}, {50}}, .device = ""});
  ASSERT_EQ(part.steps.size(), 1u);
  EXPECT_EQ(part.steps[0].period, DurationNs{100});
}

TEST(FindSteps, TwoNamesOfOneStepAreOneStep) {
  TraceBuilder b;
  b.Host("user_annotation", "step[DECODE bs=32]", {.start = 10, .duration = 80});
  b.Host("user_annotation", "execute_new_0_cached_32", {.start = 0, .duration = 100});
  b.Host("user_annotation", "step[DECODE bs=31]", {.start = 110, .duration = 80});
  const StepTable table = FindSteps(std::move(b).Finish());
  ASSERT_EQ(table.steps.size(), 2u);
  EXPECT_EQ(table.steps[0].when, (Interval{{0}, {100}}));
  EXPECT_EQ(table.steps[0].label.generation_tokens, 32);  // only the inner name has it
  EXPECT_EQ(table.steps[0].period, DurationNs{110});
}

TEST(FindSteps, TrainingStepsServeWhenNoEngineWroteAny) {
  TraceBuilder b;
  b.Host("user_annotation", "ProfilerStep#3", {.start = 0, .duration = 10});
  b.Host("user_annotation", "ProfilerStep#4", {.start = 10, .duration = 10});
  const StepTable table = FindSteps(std::move(b).Finish());
  ASSERT_EQ(table.steps.size(), 2u);
  EXPECT_EQ(table.steps[0].label.phase, Phase::kOther);
  EXPECT_EQ(table.steps[0].period, DurationNs{10});
}

TEST(FindSteps, APartOfEachStepServesWhenNothingNamesTheStep) {
  const auto steps = [](bool named) {
    TraceBuilder b;
    b.Host("user_annotation", "ProfilerStep#3", {.start = 0, .duration = 300});
    for (int64_t at : {0, 100}) {
      if (named)
        b.Host("user_annotation", "execute_context_0(0)_generation_4(4)",
               {.start = at + 5, .duration = 70});
      b.Host("user_annotation", "gpu_model_runner: preprocess", {.start = at + 6, .duration = 9});
      b.Host("user_annotation", "gpu_model_runner: forward", {.start = at + 20, .duration = 50});
    }
    return FindSteps(std::move(b).Finish()).steps;
  };
  ASSERT_EQ(steps(false).size(), 2u);
  EXPECT_EQ(steps(false)[0].when, (Interval{{20}, {70}}));
  EXPECT_EQ(steps(false)[0].label.phase, Phase::kOther);
  EXPECT_EQ(steps(false)[0].period, DurationNs{100});
  ASSERT_EQ(steps(true).size(), 2u);
  EXPECT_EQ(steps(true)[0].when, (Interval{{5}, {75}}));
  EXPECT_EQ(steps(true)[0].label.phase, Phase::kDecode);
}

TEST(FindSteps, WithoutAnnotationsThereIsNoMethod) {
  TraceBuilder b;
  b.Host("user_annotation", "nccl:all_reduce", {.start = 0, .duration = 10});
  const StepTable table = FindSteps(std::move(b).Finish());
  EXPECT_EQ(table.method, "");
  EXPECT_TRUE(table.steps.empty());
}

TEST(Steps, AWindowKeepsWhatItCuts) {
  TraceBuilder b;
  for (const int64_t start : {0, 100, 200, 300}) {
    b.Host("user_annotation", "step[DECODE bs=1]", {.start = start, .duration = 90});
  }
  const StepTable table =
      FindSteps(std::move(b).Finish(), Scope{.window = Interval{{50}, {250}}, .device = ""});
  ASSERT_EQ(table.steps.size(), 3u);
  EXPECT_TRUE(table.steps[0].cut);
  EXPECT_FALSE(table.steps[1].cut);
  EXPECT_TRUE(table.steps[2].cut);
  EXPECT_EQ(table.steps[2].when.length().ns, 90);
}

TEST(Steps, OneWithoutALengthAtTheEndOfAnotherIsNotInside) {
  TraceBuilder b;
  b.Host("user_annotation", "step[DECODE bs=1]", {.start = 0, .duration = 100});
  b.Host("user_annotation", "step[DECODE bs=2]", {.start = 100, .duration = 0});
  EXPECT_EQ(FindSteps(std::move(b).Finish()).steps.size(), 2u);
}

TEST(Steps, OfTrainingAreStepsUnderAnyCategory) {
  for (const char* category : {"user_annotation", "cpu_op", "Operator", "other"}) {
    TraceBuilder b;
    b.Host(category, "ProfilerStep#1", {.start = 0, .duration = 100});
    b.Host("cpu_op", "aten::mm", {.start = 10, .duration = 50});
    EXPECT_EQ(FindSteps(std::move(b).Finish()).steps.size(), 1u) << category;
  }
}

// A decode step returns long before its graph has finished.
TEST(Steps, HaveTheTimeOfTheWorkThatTheyLaunched) {
  for (const bool in_order : {true, false}) {
    TraceBuilder b;
    b.Host("user_annotation", "step[DECODE bs=1]", {.start = 0, .duration = 50});
    b.Host("user_annotation", "step[DECODE bs=1]", {.start = 60, .duration = 50});
    b.Host("cuda_runtime", "cudaGraphLaunch", {.start = 10, .duration = 5, .correlation = 1});
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.pid = "2", .start = 70, .duration = 5, .correlation = 2});
    if (in_order) b.Kernel("a", {.start = 20, .duration = 100, .correlation = 1});
    b.Kernel("b", {.stream = "9", .start = 100, .duration = 40, .correlation = 1});
    b.Kernel("c", {.start = 200, .duration = 30, .correlation = 1});
    if (!in_order) b.Kernel("a", {.start = 20, .duration = 100, .correlation = 1});
    b.Kernel("of another process", {.start = 300, .duration = 30, .correlation = 2});
    const Trace trace = std::move(b).Finish();
    const StepTable table = FindSteps(TrackIndex(trace), LinkLaunches(trace));
    ASSERT_EQ(table.steps.size(), 2u);
    EXPECT_EQ(table.steps[0].device_span, DurationNs{210});
    EXPECT_EQ(table.steps[0].device_busy, DurationNs{150});
    EXPECT_FALSE(table.steps[1].device_span);
  }
}

// A backward pass runs on an autograd thread of PyTorch, which has no annotation.
TEST(Steps, HaveTheWorkOfThreadsWithoutSteps) {
  for (const bool has_steps : {false, true}) {
    TraceBuilder b;
    b.Host("user_annotation", "ProfilerStep#1", {.tid = "1", .start = 0, .duration = 100});
    if (has_steps) {
      b.Host("user_annotation", "ProfilerStep#1", {.tid = "2", .start = 50, .duration = 10});
    }
    b.Host("cuda_runtime", "cudaLaunchKernel",
           {.tid = "2", .start = 70, .duration = 5, .correlation = 1});
    b.Kernel("backward", {.start = 80, .duration = 30, .correlation = 1});
    const Trace trace = std::move(b).Finish();
    const StepTable table = FindSteps(TrackIndex(trace), LinkLaunches(trace));
    EXPECT_EQ(table.steps[0].device_busy.has_value(), !has_steps);
  }
}

// vLLM computes logits and samples after its annotation ends.
TEST(Steps, HaveTheWorkThatTheirThreadLaunchesSoonAfter) {
  constexpr int64_t kMs = 1'000'000;
  const auto busy = [&](std::string_view name, int64_t pause, std::string_view tid, int64_t next) {
    TraceBuilder b;
    b.Host("user_annotation", name, {.tid = "1", .start = 0, .duration = 2 * kMs});
    b.Host("user_annotation", name, {.tid = "1", .start = next, .duration = 2 * kMs});
    int64_t launches = 0;
    const auto launch = [&](std::string_view on, int64_t start, int64_t duration) {
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.tid = on, .start = start, .duration = 10, .correlation = ++launches});
      b.Kernel("k", {.start = start + 20, .duration = duration, .correlation = launches});
    };
    launch("1", kMs, 100);
    launch("1", 2 * kMs + pause, 200);           // lm_head
    launch(tid, 2 * kMs + 2 * pause + 10, 400);  // sampling
    const Trace trace = std::move(b).Finish();
    const TrackIndex index(trace);
    const LaunchLinks links = LinkLaunches(trace);
    const std::vector<Step> steps = FindSteps(index, links).steps;
    const auto work = FindStepWork(index, links, steps);
    EXPECT_EQ(work[0].when.length(), steps[0].device_span);
    return steps[0].device_busy->ns;
  };
  constexpr std::string_view kStep = "execute_context_0(0)_generation_8(8)";
  EXPECT_EQ(busy(kStep, kMs / 2, "1", 9 * kMs), 700);
  EXPECT_EQ(busy(kStep, kMs, "1", 9 * kMs), 700);
  EXPECT_EQ(busy(kStep, kMs + 1, "1", 9 * kMs), 100);
  EXPECT_EQ(busy(kStep, kMs / 2, "1", 3 * kMs), 300) << "the next step has the sampling";
  EXPECT_EQ(busy(kStep, kMs / 4, "2", 9 * kMs), 300) << "another thread does not let it last";
  EXPECT_EQ(busy("ProfilerStep#3", kMs / 2, "1", 9 * kMs), 100);
  EXPECT_EQ(busy("gpu_model_runner: forward", kMs / 2, "1", 9 * kMs), 100);
}

TEST(Steps, LastOnWithLaunchesWhoseWorkIsLost) {
  TraceBuilder b;
  b.Host("user_annotation", "execute_context_0(0)_generation_8(8)", {.start = 0, .duration = 100});
  b.Host("cuda_runtime", "cudaLaunchKernel", {.start = 500'000, .duration = 10, .correlation = 1});
  b.Host("cuda_runtime", "cudaStreamSynchronize",
         {.start = 1'200'000, .duration = 10, .correlation = 2});
  const Trace trace = std::move(b).Finish();
  const StepTable table = FindSteps(TrackIndex(trace), LinkLaunches(trace));
  EXPECT_EQ(table.steps[0].lasts, (Interval{{0}, {500'010}}));
}

TEST(StepExtents, GoOnWhileTheirThreadLaunches) {
  constexpr int64_t kMs = 1'000'000;
  for (const bool on_host : {false, true}) {
    TraceBuilder b;
    const auto step = [&](std::string_view tid, int64_t start) {
      b.Host("user_annotation", "execute_context_0(0)_generation_1(1)",
             {.tid = tid, .start = start, .duration = 2 * kMs});
    };
    int64_t launches = 0;
    const auto launch = [&](std::string_view tid, int64_t start) {
      if (on_host) {
        b.Host("cpu_op", "aten::argmax", {.tid = tid, .start = start, .duration = kMs});
        return;
      }
      b.Host("cuda_runtime", "cudaLaunchKernel",
             {.tid = tid, .start = start, .duration = kMs, .correlation = ++launches});
      b.Kernel("k", {.start = start, .duration = 1, .correlation = launches});
    };
    step("1", 0);
    launch("1", 3 * kMs);  // after a pause of 1 ms; ends at 4 ms
    launch("2", 4 * kMs);  // on another thread
    launch("1", 6 * kMs);  // after a longer pause
    step("1", 10 * kMs);
    launch("1", 12 * kMs);  // ends at 13 ms
    step("3", 20 * kMs);    // another thread of the process has steps
    const Trace trace = std::move(b).Finish();
    const auto extents = StepExtents(TrackIndex(trace), LinkLaunches(trace), on_host);
    ASSERT_EQ(extents.size(), 1u);
    EXPECT_EQ(extents.begin()->second.intervals(),
              (std::vector<Interval>{
                  {{0}, {4 * kMs}}, {{10 * kMs}, {13 * kMs}}, {{20 * kMs}, {22 * kMs}}}));
  }
  TraceBuilder training;
  training.Host("user_annotation", "ProfilerStep#1", {.start = 0, .duration = 100});
  const Trace trace = std::move(training).Finish();
  EXPECT_TRUE(StepExtents(TrackIndex(trace), LinkLaunches(trace), false).empty());
}

}  // namespace
}  // namespace tacho
