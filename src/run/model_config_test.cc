#include "run/model_config.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/folder_for_test.h"

namespace tacho {
namespace {

std::string ProblemOf(std::string_view text) {
  const auto shape = ParseModelConfig(text);
  return shape ? "" : shape.error().message;
}

constexpr char kLlama[] = R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
    "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 9})";
constexpr char kModelOpt[] = R"({"producer": {"name": "modelopt", "version": "0.29.0"},
    "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16,
                     "exclude_modules": ["lm_head"]}})";

TEST(ModelConfig, DenseModel) {
  const auto shape = ParseModelConfig(R"({"model_type": "qwen3", "hidden_size": 4096,
    "intermediate_size": 12288, "num_attention_heads": 32, "num_key_value_heads": 8,
    "head_dim": 128, "num_hidden_layers": 36, "vocab_size": 151936, "torch_dtype": "bfloat16",
    "sliding_window": null})");
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->type, "qwen3");
  EXPECT_EQ(shape->kv_heads, 8);
  EXPECT_EQ(shape->head_size, 128);
  ASSERT_EQ(shape->layers.size(), 36u);
  EXPECT_TRUE(std::ranges::all_of(shape->layers, [](const DecoderLayer& layer) {
    return layer == DecoderLayer{.mlp = 12288};
  }));
}

TEST(ModelConfig, WindowsAlternateAndOnlyExpertsAreQuantized) {
  const auto shape = ParseModelConfig(R"({"model_type": "gpt_oss", "hidden_size": 2880,
    "intermediate_size": 2880, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
    "num_hidden_layers": 2, "vocab_size": 201088, "num_local_experts": 128,
    "num_experts_per_tok": 4, "sliding_window": 128,
    "layer_types": ["sliding_attention", "full_attention"],
    "quantization_config": {"quant_method": "mxfp4"}})");
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->layers[0].window, 128);
  EXPECT_EQ(shape->layers[1].window, 0);
  EXPECT_EQ(shape->layers[1].experts, 128);
  EXPECT_EQ(shape->weights.bytes, 2);
  EXPECT_EQ(shape->expert_weights.bytes, 0.53125);
  EXPECT_EQ(shape->expert_weights.math, MathFormat::k16Bit);
}

TEST(ModelConfig, LatentAttentionAndFirstDenseLayers) {
  const auto shape = ParseModelConfig(R"({"model_type": "deepseek_v3", "hidden_size": 7168,
    "intermediate_size": 18432, "moe_intermediate_size": 2048, "num_attention_heads": 128,
    "num_key_value_heads": 128, "num_hidden_layers": 61, "vocab_size": 129280,
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8,
    "first_k_dense_replace": 3, "moe_layer_freq": 1, "kv_lora_rank": 512, "q_lora_rank": 1536,
    "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}})");
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->latent, 512);
  EXPECT_EQ(shape->weights.math, MathFormat::k8Bit);
  EXPECT_EQ(shape->layers[2], DecoderLayer{.mlp = 18432});
  EXPECT_EQ(shape->layers[3], (DecoderLayer{.experts = 256, .shared_expert = 2048}));
}

TEST(ModelConfig, TextPartOfAModelThatReadsImages) {
  const auto shape = ParseModelConfig(R"({"model_type": "gemma3", "vision_config": {},
    "text_config": {"model_type": "gemma3_text", "hidden_size": 64, "intermediate_size": 128,
    "num_attention_heads": 4, "num_hidden_layers": 7, "sliding_window": 16},
    "quantization_config": {"quant_method": "fp8", "ignore": ["vision_tower", "lm_head"]}})");
  ASSERT_TRUE(shape) << shape.error().message;
  EXPECT_EQ(shape->head_size, 256);  // by the class of the configuration
  EXPECT_EQ(shape->vocabulary, 262208);
  EXPECT_EQ(shape->weights.math, MathFormat::k8Bit);
  EXPECT_EQ(shape->layers[5].window, 0);
  EXPECT_EQ(shape->layers[6].window, 16);
}

TEST(ModelConfig, CompressedTensors) {
  const auto with = [](std::string_view group) {
    return ParseModelConfig(fmt::format(
        R"({{"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
        "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100, "quantization_config":
        {{"quant_method": "compressed-tensors", "ignore": ["lm_head"],
        "config_groups": {{"group_0": {}}}}}}})",
        group));
  };
  const auto w8a8 = with(R"({"weights": {"num_bits": 8}, "input_activations": {"num_bits": 8}})");
  ASSERT_TRUE(w8a8) << w8a8.error().message;
  EXPECT_EQ(w8a8->weights.bytes, 1);
  EXPECT_EQ(w8a8->weights.math, MathFormat::k8Bit);
  const auto w4a16 = with(R"({"weights": {"num_bits": 4, "group_size": 128}})");
  ASSERT_TRUE(w4a16) << w4a16.error().message;
  EXPECT_EQ(w4a16->weights.bytes, 0.515625);
  EXPECT_EQ(w4a16->weights.math, MathFormat::k16Bit);
  EXPECT_FALSE(with(R"({"weights": {"num_bits": 4}, "input_activations": {"num_bits": 4}})"));
}

TEST(ModelConfig, SaysWhatIsWrong) {
  EXPECT_EQ(ProblemOf("[1]"), "not a JSON object");
  EXPECT_EQ(ProblemOf("{}"), "no model_type: this is no config.json of a model");
  EXPECT_EQ(
      ProblemOf(R"({"model_type": "mamba"})"),
      "no formulas for model_type 'mamba'; docs/metrics.md#roofline lists those that are known");
  EXPECT_EQ(ProblemOf(R"({"model_type": "llama"})"), "no hidden_size");
  const auto with = [](std::string_view field) {
    return fmt::format(R"({{"model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
      "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 100, {}}})",
                       field);
  };
  EXPECT_EQ(ProblemOf(with(R"("num_key_value_heads": 2)")), "");
  EXPECT_EQ(ProblemOf(with(R"("num_key_value_heads": -2)")),
            "num_key_value_heads is not a number from 0 to 67108864");
  EXPECT_EQ(ProblemOf(with(R"("vocab_size": 1e300)")),
            "vocab_size is not a number from 0 to 67108864");
  EXPECT_EQ(ProblemOf(with(R"("torch_dtype": "float32")")), "");
  EXPECT_THAT(ProblemOf(with(R"("quantization_config": {"quant_method": "exl2"})")),
              testing::StartsWith("no formulas for quantization 'exl2'; known are fp8"));
  EXPECT_EQ(
      ProblemOf(with(
          R"("quantization_config": {"quant_method": "fp8", "ignore": ["re:.*self_attn.*"]})")),
      "no formulas where 're:.*self_attn.*' is not quantized");
}

TEST(ModelConfig, ReadsTheFileOfAFolder) {
  const FolderForTest folder;
  std::ofstream(folder.path() + "/config.json") << "{}";
  const auto shape = ReadModelConfig(folder.path());
  ASSERT_FALSE(shape);
  EXPECT_EQ(shape.error().message,
            folder.path() + "/config.json: no model_type: this is no config.json of a model");
}

TEST(ModelConfig, ARunFolderKeepsTheModelAndTheRanksOfAWorker) {
  const FolderForTest run;
  for (const char* folder : {"/traces", "/traces/w1", "/models"})
    std::filesystem::create_directory(run.path() + folder);
  const std::string trace = run.path() + "/traces/w1/rank0.json";
  EXPECT_FALSE(WithKeptModel({}, trace).tensor_ranks);
  std::ofstream(run.path() + "/run.json") << R"({"workers": [{"name": "w0", "tensor_parallel": 8},
                         {"name": "w1", "tensor_parallel": 2}, 7]})";
  std::ofstream(run.path() + "/models/w1.json") << R"({"model_type": "llama", "hidden_size": 64,
    "intermediate_size": 128, "num_attention_heads": 4, "num_hidden_layers": 2, "vocab_size": 9})";
  const RooflineSetup kept = WithKeptModel({}, trace);
  EXPECT_EQ(kept.tensor_ranks, 2);
  ASSERT_TRUE(kept.model);
  EXPECT_EQ(kept.model->type, "llama");
  RooflineSetup four;
  four.tensor_ranks = 4;
  EXPECT_EQ(WithKeptModel(four, trace).tensor_ranks, 4);
  EXPECT_FALSE(kept.stages);
  EXPECT_EQ(kept.model->weights.bytes, 2);
}

TEST(ModelConfig, ARunFolderKeepsTheFormatsOfAWorker) {
  const FolderForTest run;
  for (const char* folder : {"/traces", "/traces/w0", "/models"})
    std::filesystem::create_directory(run.path() + folder);
  const std::string trace = run.path() + "/traces/w0/rank0.json";
  std::ofstream(run.path() + "/models/w0.json") << kLlama;
  const auto told = [&](const std::string& formats) {
    std::ofstream(run.path() + "/run.json")
        << R"({"workers": [{"name": "w0", "tensor_parallel": 2, "pipeline_parallel": 2)" << formats
        << "}]}";
    return WithKeptModel({}, trace);
  };
  EXPECT_EQ(told("").stages, 2);
  EXPECT_EQ(told(R"(, "quantization": "fp8")").model->weights.bytes, 1);
  EXPECT_EQ(told(R"(, "kv_cache_dtype": "fp8_e5m2")").model->cache_bytes, 1);
  EXPECT_EQ(told(R"(, "dtype": "torch.float32")").unknown_format, "dtype torch.float32");
  EXPECT_EQ(told("").unknown_format, "");
  std::ofstream(run.path() + "/models/w0-hf_quant_config.json") << kModelOpt;
  const RooflineSetup kept = told(R"(, "quantization": "modelopt", "kv_cache_dtype": "auto")");
  EXPECT_EQ(kept.unknown_format, "");
  EXPECT_EQ(kept.model->weights.math, MathFormat::k4Bit);
  EXPECT_EQ(kept.model->cache_bytes, 1);
}

TEST(ModelConfig, FormatsBesideTheConfig) {
  const FolderForTest folder;
  std::ofstream(folder.path() + "/config.json") << kLlama;
  EXPECT_EQ(ReadModelConfig(folder.path())->weights.bytes, 2);
  std::ofstream(folder.path() + "/hf_quant_config.json") << kModelOpt;
  for (const char* name : {"", "/config.json"}) {
    const auto shape = ReadModelConfig(folder.path() + name);
    ASSERT_TRUE(shape) << shape.error().message;
    EXPECT_EQ(shape->weights.bytes, 0.5625);
    EXPECT_EQ(shape->cache_bytes, 1);
  }
  std::ofstream(folder.path() + "/hf_quant_config.json")
      << R"({"quantization": {"quant_algo": "W4A8_AWQ"}})";
  EXPECT_FALSE(ReadModelConfig(folder.path()));
}

}  // namespace
}  // namespace tacho
