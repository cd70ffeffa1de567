#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// What a piece of device work is for the structure of a transformer.
enum class LayerRole : uint8_t {
  kOther,       // says nothing by itself: elementwise, quantization, memsets
  kCopy,        // says nothing either; but after a collective it is part of it
  kMixer,       // mixes tokens: attention
  kStateSpace,  // mixes tokens: a state space or a linear attention
  kMixerPart,   // belongs to the attention beside it: merging, softmax
  kNorm,
  kReduction,    // a norm, if no kernel is known as one
  kReduceNorm,   // an all-reduce and a norm in one kernel
  kProduct,      // of matrices
  kProductPart,  // adds up the parts of the product before it (split-K)
  kSide,         // a product or activation on another stream than the mixers
  kExperts,      // products of experts
  kRouting,      // of tokens to experts
  kRope,
  kCacheWrite,
  kActivation,
  kExchange,    // of tokens with the ranks of their experts
  kTransfer,    // from rank to rank: to or from another stage
  kCollective,  // any other communication
  kEmbedding,
  kIndex,  // gathers rows: an embedding, or the last tokens
  kSampling,
};
inline bool SaysNothing(LayerRole role) {
  return role == LayerRole::kOther || role == LayerRole::kCopy;
}
inline bool IsMixer(LayerRole role) {
  return role == LayerRole::kMixer || role == LayerRole::kStateSpace;
}
inline bool IsNorm(LayerRole role) {
  return role == LayerRole::kNorm || role == LayerRole::kReduceNorm;
}
inline bool IsProduct(LayerRole role) {
  return role == LayerRole::kProduct || role == LayerRole::kExperts;
}

// Whether a kernel of this name only adds up the parts of a product.
bool IsProductPart(std::string_view name);

// By WorkCategory. `categories`: DeviceWork::categories.
std::vector<LayerRole> RolesOf(const std::vector<std::string>& categories);

}  // namespace tacho
