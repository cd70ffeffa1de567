#include "analysis/roofline/roofline.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/roofline/block_work.h"
#include "analysis/roofline/kernel_formats.h"
#include "analysis/roofline/pipeline_stage.h"

namespace tacho {
namespace {

DecoderShape Small() {
  DecoderShape shape;
  shape.type = "llama";
  shape.hidden = 8;
  shape.vocabulary = 100;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_size = 2;
  shape.layers = {{.mlp = 16}, {.mlp = 16}};
  return shape;
}
const BlockWork& Of(const std::vector<BlockWork>& work, LayerBlock block) {
  return *std::ranges::find(work, block, &BlockWork::block);
}
StepTokens Decode(double requests, double k) {
  return {{}, {.requests = requests, .q = requests, .k = k, .qk = k}};
}

TEST(WorkOfStep, ByHand) {
  // Three requests of 10, 20 and 30 tokens, the new one included.
  const auto work = WorkOfStep(Small(), 1, Decode(3, 60));
  const BlockWork& qkv = Of(work, LayerBlock::kInputProjection);
  EXPECT_EQ(qkv.flops, 2 * (2.0 * 3 * 8 * 16));
  EXPECT_EQ(qkv.bytes, 2 * 2.0 * (3 * 8 + 8 * 16 + 3 * 16));
  const BlockWork& attention = Of(work, LayerBlock::kAttention);
  EXPECT_EQ(attention.flops, 2 * (2.0 * 4 * (2 + 2) * 60));
  EXPECT_EQ(attention.bytes, 2 * 2.0 * (3 * (4 + 2) * 4 + 57 * 2 * 4));
  const BlockWork& up = Of(work, LayerBlock::kMlpUp);
  EXPECT_EQ(up.flops, 2 * (2.0 * 3 * 8 * 32));
  EXPECT_EQ(Of(work, LayerBlock::kMlpDown).flops, up.flops / 2);
  EXPECT_EQ(Of(work, LayerBlock::kLmHead).flops, 2.0 * 3 * 8 * 100);
  EXPECT_EQ(std::ranges::count(work, LayerBlock::kCollective, &BlockWork::block), 0);
}

TEST(WorkOfStep, APromptIsCausal) {
  // 6 new tokens after 4 that are cached: 6 * 10 - 36 / 2 pairs.
  const StepTokens tokens{{.requests = 1, .q = 6, .k = 10, .qk = 60, .qq = 36}, {}};
  const auto work = WorkOfStep(Small(), 1, tokens);
  EXPECT_EQ(Of(work, LayerBlock::kAttention).flops, 2 * (2.0 * 4 * 4 * 42));
  EXPECT_EQ(Of(work, LayerBlock::kAttention).bytes, 2 * 2.0 * (6 * 6 * 4 + 4 * 2 * 4));
  EXPECT_EQ(Of(work, LayerBlock::kLmHead).flops, 2.0 * 8 * 100);
}

TEST(WorkOfStep, AWindowBoundsAttention) {
  DecoderShape shape = Small();
  for (DecoderLayer& layer : shape.layers) layer.window = 5;
  const auto work = WorkOfStep(shape, 1, Decode(3, 60));
  EXPECT_EQ(Of(work, LayerBlock::kAttention).flops, 2 * (2.0 * 4 * 4 * 15));
  EXPECT_EQ(Of(work, LayerBlock::kAttention).bytes, 2 * 2.0 * (3 * (4 + 2) * 4 + 15 * 2 * 4));
}

TEST(WorkOfStep, AWindowGrowsAtTheBeginningOfAPrompt) {
  DecoderShape shape = Small();
  for (DecoderLayer& layer : shape.layers) layer.window = 4;
  // Of 6 new tokens the first 4 see all before them: 16 / 2 pairs, the others 4 each.
  const auto work = WorkOfStep(shape, 1, {{.requests = 1, .q = 6, .k = 6, .qk = 36, .qq = 36}, {}});
  EXPECT_EQ(Of(work, LayerBlock::kAttention).flops, 2 * (2.0 * 4 * 4 * (8 + 8)));
}

TEST(WorkOfStep, RanksShareTheWork) {
  const auto whole = WorkOfStep(Small(), 1, Decode(3, 60));
  const auto half = WorkOfStep(Small(), 2, Decode(3, 60));
  for (const BlockWork& of : whole) EXPECT_EQ(2 * Of(half, of.block).flops, of.flops);
  EXPECT_EQ(Of(half, LayerBlock::kCollective).link_bytes, 2 * 2 * (2 * 0.5 * 3 * 8 * 2.0));
}

TEST(WorkOfStep, TheCacheHasItsOwnFormat) {
  DecoderShape shape = Small();
  shape.cache_bytes = 1;
  shape.attention = MathFormat::k8Bit;
  const BlockWork attention = Of(WorkOfStep(shape, 1, Decode(3, 60)), LayerBlock::kAttention);
  EXPECT_EQ(attention.bytes, 2 * (2.0 * 3 * (4 + 2) * 4 + 57 * 2 * 4));
  EXPECT_EQ(attention.math, MathFormat::k8Bit);
}

TEST(LinkShare, ASwitchAdds) {
  EXPECT_EQ(LinkShare({.reduces_in_ranks = true}, 1), 0);
  EXPECT_EQ(LinkShare({.reduces_in_ranks = true}, 8), 1.75);
  EXPECT_EQ(LinkShare({.reduces_in_switch = true}, 8), 1.125);
  EXPECT_EQ(LinkShare({.reduces_in_switch = true}, 2), 1.5);
  EXPECT_EQ(LinkShare({.reduces_in_switch = true, .reduces_in_ranks = true}, 2), 1);
  const auto work = WorkOfStep(Small(), 2, Decode(3, 60), 1.5);
  EXPECT_EQ(Of(work, LayerBlock::kCollective).link_bytes, 2 * 2 * (1.5 * 3 * 8 * 2.0));
}

TEST(StageOfPipeline, TheWaysOfBothEngines) {
  DecoderShape shape = Small();
  shape.layers.clear();
  for (int64_t i = 0; i < 10; ++i) shape.layers.push_back({.mlp = i + 1});
  const auto widths = [&](int64_t stage, int64_t stages, size_t layers) {
    std::vector<int64_t> found;
    const auto part = StageOfPipeline(shape, stage, stages, layers);
    if (part)
      for (const DecoderLayer& layer : part->layers) found.push_back(layer.mlp);
    return found;
  };
  using Widths = std::vector<int64_t>;
  EXPECT_EQ(widths(0, 2, 5), (Widths{1, 2, 3, 4, 5}));
  EXPECT_EQ(widths(1, 2, 5), (Widths{6, 7, 8, 9, 10}));
  // vLLM: 3, 4, 3; SGLang: 3, 3, 4.
  EXPECT_EQ(widths(1, 3, 4), (Widths{4, 5, 6, 7}));
  EXPECT_EQ(widths(1, 3, 3), (Widths{4, 5, 6}));
  EXPECT_EQ(widths(2, 3, 4), (Widths{7, 8, 9, 10}));
  EXPECT_EQ(widths(2, 3, 3), (Widths{8, 9, 10}));
  // vLLM: 2, 3, 3, 2; SGLang: 2, 2, 3, 3. Stage 2 has different layers by each.
  EXPECT_EQ(widths(2, 4, 3), Widths{});
  EXPECT_EQ(widths(0, 2, 4), Widths{});
  EXPECT_EQ(widths(2, 2, 5), Widths{});
  EXPECT_EQ(widths(-1, 2, 5), Widths{});
  EXPECT_FALSE(StageOfPipeline(shape, 0, 2, 5)->has_head);
  EXPECT_TRUE(StageOfPipeline(shape, 1, 2, 5)->has_head);
}

TEST(WorkOfStep, ExpertsByExpectation) {
  DecoderShape shape = Small();
  shape.experts_per_token = 2;
  shape.expert_width = 16;
  shape.layers = {{.experts = 4, .shared_expert = 6}};
  const auto one = WorkOfStep(shape, 1, Decode(1, 10));
  EXPECT_EQ(Of(one, LayerBlock::kExpertsUp).flops, 2.0 * 2 * 8 * 32);
  EXPECT_EQ(Of(one, LayerBlock::kExpertsUp).bytes, 2.0 * (2 * 8 * 32 + 8 + 2 * 32));
  EXPECT_EQ(Of(one, LayerBlock::kRouter).flops, 2.0 * 8 * 4);
  EXPECT_EQ(Of(one, LayerBlock::kSharedExpert).flops, 2.0 * 8 * 12 + 2.0 * 6 * 8);
  // Two tokens read 4 * (1 - (2 / 4)^2) = 3 experts in the mean.
  const auto two = WorkOfStep(shape, 1, Decode(2, 20));
  EXPECT_EQ(Of(two, LayerBlock::kExpertsDown).bytes, 2.0 * (3 * 16 * 8 + 4 * 16 + 2 * 8));
}

TEST(WorkOfStep, LatentAttentionReadsTheLatentOnce) {
  DecoderShape shape = Small();
  shape.latent = 6;
  shape.rope_size = 2;
  shape.nope_size = 3;
  shape.value_size = 5;
  shape.layers = {{.mlp = 16}};
  const auto decode = WorkOfStep(shape, 1, Decode(3, 60));
  EXPECT_EQ(Of(decode, LayerBlock::kAttention).flops, 2.0 * 4 * (2 * 6 + 2) * 60);
  EXPECT_EQ(Of(decode, LayerBlock::kAttention).bytes, 2.0 * (4 * (2 * 6 + 2) * 3 + 60 * (6 + 2)));
  EXPECT_EQ(Of(decode, LayerBlock::kInputProjection).flops,
            2.0 * 3 * (8 * 4 * 5 + 8 * (6 + 2) + 6 * 4 * (3 + 5)));
}

TEST(TokensOf, LengthsAreGivenOrAbsent) {
  StepLabel label{.phase = Phase::kMixed,
                  .context_requests = 2,
                  .context_tokens = 10,
                  .generation_requests = 3,
                  .generation_tokens = 3};
  EXPECT_LT(TokensOf(label, {})->context.k, 0);
  EXPECT_LT(TokensOf(label, {})->generation.k, 0);
  const auto mean = TokensOf(label, 100);
  EXPECT_EQ(mean->context.k, 10);  // prompts that are read at once
  EXPECT_EQ(mean->context.qk, 50);
  EXPECT_EQ(mean->generation.qk, 300);
  // One new token each: the products with q are the lengths.
  label.generation_k = 70;
  EXPECT_EQ(TokensOf(label, {})->generation.qk, 70);
  label.context_tokens = -1;
  EXPECT_FALSE(TokensOf(label, {}));
}

TEST(FindAccelerator, ByIdAndByTheNameOfADriver) {
  EXPECT_EQ(FindAccelerator("H100-SXM")->flops[0], 989.4e12);
  EXPECT_EQ(FindAccelerator("NVIDIA H100 80GB HBM3")->id, "h100-sxm");
  EXPECT_EQ(FindAccelerator("AMD Instinct MI300X")->memory_bytes_s, 5300e9);
  EXPECT_EQ(FindAccelerator("NVIDIA A100-SXM4-80GB")->flops[1], 0);
  EXPECT_FALSE(FindAccelerator("NVIDIA H100"));
  EXPECT_FALSE(FindAccelerator("NVIDIA H100 80GB HBM3 MIG 1g.10gb"));
  EXPECT_FALSE(FindAccelerator(""));
  EXPECT_EQ(FindAccelerator("NVIDIA B300 SXM6 AC")->flops[1], 4500e12);
  EXPECT_EQ(AcceleratorIds().size(), 24u);
}

}  // namespace
}  // namespace tacho
