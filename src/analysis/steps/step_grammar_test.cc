#include "analysis/steps/step_grammar.h"

#include <gtest/gtest.h>

#include <string>

#include "base/rule_lines.h"

namespace tacho {
namespace embedded {
extern const std::string_view step_rules;
}
namespace {

TEST(ParseStep, NumbersThatNoEngineCountsAreNoStep) {
  EXPECT_TRUE(ParseStep("execute_context_1(1099511627776)_generation_0(0)"));
  EXPECT_FALSE(ParseStep("execute_context_1(1099511627777)_generation_0(0)"));
  EXPECT_FALSE(ParseStep("execute_context_1(9223372036854775807)_generation_1(1)"));
}

struct Case {
  std::string_view name, engine;
  StepLabel label;
};

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
      {"execute_diffusion_4_1024x1024", "", {}},
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
      {"gpu_model_runner: forward", "vllm", {}},
      {"scheduler.run_batch", "sglang", {}},
  };
  for (const Case& c : cases) {
    const auto step = ParseStep(c.name);
    ASSERT_TRUE(step.has_value()) << c.name;
    EXPECT_EQ(step->engine, c.engine) << c.name;
    EXPECT_EQ(PhaseName(step->label.phase), PhaseName(c.label.phase)) << c.name;
    EXPECT_EQ(step->label.context_requests, c.label.context_requests) << c.name;
    EXPECT_EQ(step->label.context_tokens, c.label.context_tokens) << c.name;
    EXPECT_EQ(step->label.generation_requests, c.label.generation_requests) << c.name;
    EXPECT_EQ(step->label.generation_tokens, c.label.generation_tokens) << c.name;
  }
}

TEST(ParseStep, KnowsStepsThatVerify) {
  const auto verifies = [](std::string_view name) { return ParseStep(name)->verifies; };
  EXPECT_TRUE(verifies("step[TARGET_VERIFY bs=2]"));
  EXPECT_TRUE(verifies("execute_context_0(0)_generation_3(12)"));
  EXPECT_FALSE(verifies("execute_context_0(0)_generation_3(3)"));
  EXPECT_FALSE(verifies("execute_context_1(20)_generation_0(0)"));
  EXPECT_FALSE(verifies("step[DECODE bs=2]"));
  EXPECT_FALSE(verifies("execute_new_1_cached_3"));
}

TEST(ParseStep, LeavesOtherAnnotationsAlone) {
  for (const std::string_view name :
       {"", "execute_context_1(32)_generation_0(0) ", "xexecute_context_1(32)_generation_0(0)",
        "execute_context_(32)_generation_0(0)", "execute_context_-1(32)_generation_0(0)",
        "execute_context_99999999999999999999(1)_generation_0(0)", "execute_context_1(32",
        "step[DECODE bs=]x", "step[DECODE bs=1", "step[DRAFT_LOOP raw_bs=1 bs=2 topk=4]",
        "ProfilerStep#", "ProfilerStep#x", "scheduler.recv_requests", "nccl:all_reduce",
        "gpu_model_runner: sample", "prefill[tok=1]"}) {
    EXPECT_FALSE(ParseStep(name).has_value()) << name;
  }
  EXPECT_FALSE(ParseStep("step[MIXED c_sq=" + std::string(200'000, '1')).has_value());
}

// A name made from a pattern of steps.rules, with the numbers from 1 on as its fields, and the
// label that the pattern reads from it.
struct StepWitness {
  std::string name;
  StepLabel label;
};

StepWitness StepWitnessOf(std::string_view pattern) {
  StepWitness witness;
  int64_t number = 0;
  while (!pattern.empty()) {
    const size_t open = std::min(pattern.find('{'), pattern.size());
    witness.name += pattern.substr(0, open);
    pattern.remove_prefix(open);
    if (pattern.empty()) break;
    const size_t close = pattern.find('}');
    const std::string fields = "," + std::string(pattern.substr(1, close - 1)) + ",";
    pattern.remove_prefix(close + 1);
    if (fields == ",*,") continue;
    witness.name += std::to_string(++number);
    StepLabel& label = witness.label;
    if (fields.find(",cr,") != std::string::npos) label.context_requests = number;
    if (fields.find(",ct,") != std::string::npos) label.context_tokens = number;
    if (fields.find(",gr,") != std::string::npos) label.generation_requests = number;
    if (fields.find(",gt,") != std::string::npos) label.generation_tokens = number;
  }
  return witness;
}

// A rule never decides if an earlier rule reads all of its names.
TEST(ParseStep, NoRuleIsHiddenByOneBeforeIt) {
  size_t rules = 0;
  EXPECT_TRUE(ReadRuleLines(embedded::step_rules, "", [&](std::string_view line) {
    const std::string_view engine = TakeWord(line), phase = TakeWord(line);
    const StepWitness witness = StepWitnessOf(line);
    ++rules;
    const auto step = ParseStep(witness.name);
    EXPECT_EQ(step.has_value(), phase != "draft") << witness.name;
    EXPECT_EQ(IsDraft(witness.name), phase == "draft") << witness.name;
    if (!step) return Result<void>();
    EXPECT_EQ(step->engine, engine == "-" ? "" : engine) << witness.name;
    EXPECT_EQ(step->is_part, phase == "part") << witness.name;
    if (phase != "part" && phase != "counts") {
      EXPECT_EQ(PhaseName(step->label.phase), phase == "verify" ? "decode" : phase);
    }
    const auto same = [&](int64_t StepLabel::*field) {
      // A field that the pattern lacks may still be known: a decode step has no context.
      if (witness.label.*field >= 0) {
        EXPECT_EQ(step->label.*field, witness.label.*field) << witness.name;
      } else {
        EXPECT_LE(step->label.*field, 0) << witness.name;
      }
    };
    same(&StepLabel::context_requests);
    same(&StepLabel::context_tokens);
    same(&StepLabel::generation_requests);
    same(&StepLabel::generation_tokens);
    return Result<void>();
  }));
  EXPECT_GT(rules, 20u);
}

}  // namespace
}  // namespace tacho
