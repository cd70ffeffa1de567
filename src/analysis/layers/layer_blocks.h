#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/layers/layer_spans.h"

namespace tacho {

// What a part of a model does. The blocks of a layer come first, those outside of all layers last.
enum class LayerBlock : uint8_t {
  kNorm,
  kInputProjection,  // "qkv"; in a layer with a state space, its input
  kRopeAndCache,     // rotates the positions and writes the KV cache
  kAttention,
  kStateSpace,
  kOutputProjection,
  kCollective,  // all-reduce and other communication; with the norm, if one kernel does both
  kMlpUp,
  kActivation,
  kMlpDown,
  kRouter,
  kExpertsUp,
  kExpertsDown,
  kExperts,  // if one kernel does both
  kSharedExpert,
  kDispatch,  // of tokens to the ranks of their experts
  kCombine,   // of what the experts made of them
  kOther,
  kInputPreparation,
  kEmbedding,
  kFinalNorm,
  kLmHead,
  kSampling,
  kCount,
};
inline constexpr size_t kLayerBlocks = static_cast<size_t>(LayerBlock::kCount);
std::string_view LayerBlockId(LayerBlock block);  // "norm", "qkv", ...
inline bool IsInLayer(LayerBlock block) { return block < LayerBlock::kInputPreparation; }

// The block of each piece of a step's work. `layers`: FindLayerSpans of the same roles; not empty.
// Work that says nothing by itself (an elementwise kernel, a quantization) counts for the block
// that follows in its layer; at the end of a layer, for the one before. Cost: O(n).
std::vector<LayerBlock> BlocksOf(std::span<const LayerRole> roles,
                                 std::span<const LayerSpan> layers);

}  // namespace tacho
