#include "run/number_formats.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

std::string Apply(const EngineFormats& formats, DecoderShape& model) {
  return ApplyEngineFormats(formats, model);
}

TEST(EngineFormats, SixteenBitsAreQuantizedAtLoad) {
  DecoderShape model;
  EXPECT_EQ(Apply({"torch.bfloat16", "fp8", "fp8_e4m3"}, model), "");
  EXPECT_EQ(model.weights.bytes, 1);
  EXPECT_EQ(model.expert_weights.math, MathFormat::k8Bit);
  EXPECT_EQ(model.cache_bytes, 1);
  EXPECT_EQ(model.activation_bytes, 2);
}

TEST(EngineFormats, AQuantizedCheckpointKeepsItsWeights) {
  DecoderShape model;
  model.weights = model.expert_weights = {0.515625, MathFormat::k16Bit};
  model.cache_bytes = 1;
  EXPECT_EQ(Apply({"auto", "awq_marlin", "auto"}, model), "");
  EXPECT_EQ(model.weights.bytes, 0.515625);
  EXPECT_EQ(model.cache_bytes, 1);
  EXPECT_EQ(Apply({"", "", "bfloat16"}, model), "");
  EXPECT_EQ(model.cache_bytes, 2);
}

TEST(EngineFormats, WhatHasNoFormulasIsNamed) {
  DecoderShape model;
  EXPECT_EQ(Apply({"torch.float32", "", ""}, model), "dtype torch.float32");
  EXPECT_EQ(Apply({"", "bitsandbytes", ""}, model), "quantization bitsandbytes");
  EXPECT_EQ(Apply({"", "awq", ""}, model), "quantization awq");  // the checkpoint has 16 bits
  EXPECT_EQ(Apply({"", "", "fp8_ds_mla"}, model), "kv-cache-dtype fp8_ds_mla");
}

TEST(ReadQuantization, TheCacheOfAQuantizedCheckpoint) {
  const auto cache_of = [](const char* text) {
    const auto formats = ReadQuantization(text, false);
    return formats ? formats->cache_bytes : 0;
  };
  EXPECT_EQ(cache_of(R"({"quant_method": "fp8"})"), 2);
  EXPECT_EQ(cache_of(R"({"quant_method": "modelopt", "quant_algo": "FP8",
                         "kv_cache_quant_algo": "FP8"})"),
            1);
  EXPECT_EQ(cache_of(R"({"quant_method": "modelopt", "quant_algo": "FP8",
                         "kv_cache_quant_algo": null})"),
            2);
  EXPECT_EQ(cache_of(R"({"quant_method": "modelopt", "quant_algo": "NVFP4",
                         "kv_cache_scheme": {"type": "float", "num_bits": 8}})"),
            1);
  EXPECT_EQ(cache_of(R"({"quant_method": "modelopt", "quant_algo": "FP8",
                         "kv_cache_quant_algo": "INT3"})"),
            0);
}

}  // namespace
}  // namespace tacho
