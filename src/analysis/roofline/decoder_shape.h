#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// The number format that a matrix product is computed in.
enum class MathFormat : uint8_t { k16Bit, k8Bit, k4Bit };
inline constexpr size_t kMathFormats = 3;

// How the weights of a product are stored, and what it is computed in.
struct WeightFormat {
  double bytes = 2;  // of one weight, with its part of the scales of its group
  MathFormat math = MathFormat::k16Bit;
};

// One layer of a decoder.
struct DecoderLayer {
  int64_t window = 0;         // attention reads at most so many tokens; 0: all
  int64_t mlp = 0;            // width of the MLP; 0: the layer has experts
  int64_t experts = 0;        // their number; a token takes DecoderShape::experts_per_token of them
  int64_t shared_expert = 0;  // width of the expert that every token takes; 0: no such expert

  bool operator==(const DecoderLayer&) const = default;
};

// The sizes of a decoder-only transformer, of all ranks together; run/model_config.h reads them.
struct DecoderShape {
  std::string type;  // `model_type` of its config.json: "llama", "qwen3_moe"
  int64_t hidden = 0, vocabulary = 0;
  int64_t heads = 0, kv_heads = 0, head_size = 0;
  // For multi-head latent attention (DeepSeek). `latent`: rank of the latent key and value; 0: the
  // model has no such attention. `query_rank`: rank of the query; 0: the query is not compressed.
  // `rope_size`, `nope_size`: the parts of a query head with and without positions. `value_size`:
  // the size of a head's value.
  int64_t latent = 0, query_rank = 0, rope_size = 0, nope_size = 0, value_size = 0;
  bool gated = true;  // the MLP's first product makes two matrices of its width
  int64_t expert_width = 0, experts_per_token = 0;
  double activation_bytes = 2, cache_bytes = 2;  // of one value
  WeightFormat weights, expert_weights;          // lm_head and router have 16-bit weights
  // What attention is computed in: 16 bits, unless the cache has 8 and the kernels show that they
  // use them.
  MathFormat attention = MathFormat::k16Bit;
  std::vector<DecoderLayer> layers;
  bool has_head = true;  // false: an earlier stage of a pipeline, without lm_head
};

}  // namespace tacho
