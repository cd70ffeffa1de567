#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/layers/layer_spans.h"

namespace tacho {

// The parts of a model that device work is charged to. Blocks inside a layer come first, blocks
// outside of all layers last.
enum class LayerBlock : uint8_t {
  kNorm,
  kInputProjection,  // "qkv"; in a layer with a state space: the projection of its input
  kRopeAndCache,     // position rotation, writing to the KV cache
  kAttention,
  kStateSpace,
  kOutputProjection,
  kCollective,  // all-reduce and other communication, also a kernel that does a norm with it
  kMlpUp,
  kActivation,
  kMlpDown,
  kRouter,
  kExpertsUp,
  kExpertsDown,
  kExperts,  // kernels that do kExpertsUp and kExpertsDown together
  kSharedExpert,
  kDispatch,  // tokens to the ranks of their experts
  kCombine,   // results of the experts back to the ranks of the tokens
  kOther,
  kInputPreparation,
  kEmbedding,
  kFinalNorm,
  kLmHead,
  kSampling,
  kDraft,  // the draft model of speculative decoding
  kCount,
};
inline constexpr size_t kLayerBlocks = static_cast<size_t>(LayerBlock::kCount);
std::string_view LayerBlockId(LayerBlock block);  // "norm", "qkv", ...
inline bool IsInLayer(LayerBlock block) { return block < LayerBlock::kInputPreparation; }

// The block of each piece of a step's work; `roles` has one entry a piece. `layers`: what
// FindLayerSpans found in `roles`, not empty. Work without a block of its own (an elementwise
// kernel, a quantization) counts for the block of the next piece in its layer; at the end of a
// layer, for that of the piece before. Cost: O(n).
std::vector<LayerBlock> BlocksOf(std::span<const LayerRole> roles,
                                 std::span<const LayerSpan> layers);

}  // namespace tacho
