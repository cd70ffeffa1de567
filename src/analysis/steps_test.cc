#include "analysis/steps.h"

#include <gtest/gtest.h>

#include "model/trace_builder.h"

namespace tacho {
namespace {

struct Case {
  std::string_view name, engine;
  StepLabel label;
};

TEST(ParseStep, NumbersThatNoEngineCountsAreNoStep) {
  EXPECT_TRUE(ParseStep("execute_context_1(1099511627776)_generation_0(0)"));
  EXPECT_FALSE(ParseStep("execute_context_1(1099511627777)_generation_0(0)"));
  EXPECT_FALSE(ParseStep("execute_context_1(9223372036854775807)_generation_1(1)"));
}

TEST(ParseStep, ReadsTheEnginesGrammars) {
  const Case cases[] = {
      {"execute_context_1(32)_generation_0(0)", "vllm", {Phase::kPrefill, 1, 32, 0, 0}},
      {"execute_context_0(0)_generation_11(11)", "vllm", {Phase::kDecode, 0, 0, 11, 11}},
      {"execute_context_3(184)_generation_8(24)", "vllm", {Phase::kMixed, 3, 184, 8, 24}},
      {"execute_context_0(0)_generation_0(0)", "vllm", {Phase::kEmpty, 0, 0, 0, 0}},
      {"execute_context_1(888_788544)_generation_0(0)", "vllm", {Phase::kPrefill, 1, 888, 0, 0}},
      {"execute_context_1(8_64)_generation_2(2_9)", "vllm", {Phase::kMixed, 1, 8, 2, 2}},
      {"execute_29_context_2(sq28sk28sqsq400sqsk400)_generation_1(sq1sk9sqsq1sqsk9)",
       "vllm",
       {Phase::kMixed, 2, 28, 1, 1}},
      {"execute_0_context_0(sq0sk0sqsq0sqsk0)_generation_0(sq0sk0sqsq0sqsk0)",
       "vllm",
       {Phase::kEmpty, 0, 0, 0, 0}},
      {"execute_new_2_cached_5", "vllm", {Phase::kMixed, 2, -1, 5, -1}},
      {"execute_new_0_cached_5", "vllm", {Phase::kDecode, 0, 0, 5, -1}},
      {"execute_diffusion_4_1024x1024", "vllm", {}},
      {"step[DECODE bs=32]", "sglang", {Phase::kDecode, 0, 0, 32, 32}},
      {"step[DECODE bs=4 g_sq=12 g_sqsq=36 g_sqsk=396 g_sk=396 forward_id=32]",
       "sglang",
       {Phase::kDecode, 0, 0, 4, 12}},
      {"step[EXTEND bs=15 toks=15360]", "sglang", {Phase::kPrefill, 15, 15360, 0, 0}},
      {"step[EXTEND bs=2 toks=64 c_sq=64 c_sqsq=2056 c_sqsk=4232 c_sk=128 forward_id=28]",
       "sglang",
       {Phase::kPrefill, 2, 64, 0, 0}},
      {"step[EXTEND bs=3]", "sglang", {Phase::kPrefill, 3, -1, 0, 0}},
      {"step[MIXED bs=9 toks=70 g_sq=8 g_sk=90 c_sq=62 c_sk=62 forward_id=3]",
       "sglang",
       {Phase::kMixed, -1, 62, -1, 8}},
      {"step[MIXED bs=9 toks=70 c_sq=62 c_sqsq=9 g_sq=8 g_sk=90]",
       "sglang",
       {Phase::kMixed, -1, 62, -1, 8}},
      {"step[MIXED bs=9]", "sglang", {Phase::kMixed, -1, -1, -1, -1}},
      {"step[TARGET_VERIFY bs=2]", "sglang", {Phase::kDecode, 0, 0, 2, -1}},
      {"step[IDLE bs=0]", "sglang", {Phase::kEmpty, 0, 0, 0, 0}},
      {"step[DLLM_EXTEND bs=1]", "sglang", {}},
      {"prefill[bs=2 tok=16 ctx=[8, 8]]", "atom", {Phase::kPrefill, 2, 16, 0, 0}},
      {"decode[bs=117/128 tok=117 tbo=1]", "atom", {Phase::kDecode, 0, 0, 117, 117}},
      {"ProfilerStep#7", "torch", {}},
  };
  for (const Case& c : cases) {
    const auto label = ParseStep(c.name);
    ASSERT_TRUE(label.has_value()) << c.name;
    EXPECT_EQ(StepEngine(c.name), c.engine) << c.name;
    EXPECT_EQ(PhaseName(label->phase), PhaseName(c.label.phase)) << c.name;
    EXPECT_EQ(label->context_requests, c.label.context_requests) << c.name;
    EXPECT_EQ(label->context_tokens, c.label.context_tokens) << c.name;
    EXPECT_EQ(label->generation_requests, c.label.generation_requests) << c.name;
    EXPECT_EQ(label->generation_tokens, c.label.generation_tokens) << c.name;
  }
}

TEST(ParseStep, LeavesOtherAnnotationsAlone) {
  for (const std::string_view name :
       {"", "execute_context_1(32)_generation_0(0) ", "xexecute_context_1(32)_generation_0(0)",
        "execute_context_(32)_generation_0(0)", "execute_context_-1(32)_generation_0(0)",
        "execute_context_99999999999999999999(1)_generation_0(0)", "execute_context_1(32",
        "step[DECODE bs=]x", "step[DECODE bs=1", "step[DRAFT_LOOP raw_bs=1 bs=2 topk=4]",
        "ProfilerStep#", "ProfilerStep#x", "scheduler.run_batch", "nccl:all_reduce",
        "gpu_model_runner: forward", "prefill[tok=1]"}) {
    EXPECT_FALSE(ParseStep(name).has_value()) << name;
    EXPECT_EQ(StepEngine(name), "") << name;
  }
  EXPECT_FALSE(ParseStep("step[MIXED c_sq=" + std::string(200'000, '1')).has_value());
}

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
  EXPECT_EQ(table.steps[0].label.generation_tokens, 32);  // told by the inner name only
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

// A decode step returns long before its graph has run.
TEST(Steps, HaveTheTimeOfTheWorkThatTheyLaunched) {
  TraceBuilder b;
  b.Host("user_annotation", "step[DECODE bs=1]", {.start = 0, .duration = 50});
  b.Host("user_annotation", "step[DECODE bs=1]", {.start = 60, .duration = 50});
  b.Host("cuda_runtime", "cudaGraphLaunch", {.start = 10, .duration = 5, .correlation = 1});
  b.Host("cuda_runtime", "cudaLaunchKernel",
         {.tid = "2", .start = 70, .duration = 5, .correlation = 2});
  b.Kernel("a", {.start = 20, .duration = 100, .correlation = 1});
  b.Kernel("b", {.stream = "9", .start = 100, .duration = 40, .correlation = 1});
  b.Kernel("c", {.start = 200, .duration = 30, .correlation = 1});
  b.Kernel("of another thread", {.start = 300, .duration = 30, .correlation = 2});
  const Trace trace = std::move(b).Finish();
  const StepTable table = FindSteps(trace, LinkLaunches(trace));
  ASSERT_EQ(table.steps.size(), 2u);
  EXPECT_EQ(table.steps[0].device_span, DurationNs{210});
  EXPECT_EQ(table.steps[0].device_busy, DurationNs{150});
  EXPECT_FALSE(table.steps[1].device_span);
}

}  // namespace
}  // namespace tacho
