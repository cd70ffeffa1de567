#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tacho {

// What a piece of device work does in a transformer.
enum class LayerRole : uint8_t {
  kOther,       // tells nothing about the structure: elementwise, quantization, memsets
  kCopy,        // tells nothing either, except that a copy after a collective is part of it
  kMixer,       // mixes tokens by attention
  kStateSpace,  // mixes tokens by a state space or linear attention
  kMixerPart,   // part of the attention next to it: merging, softmax
  kNorm,
  kReduction,    // counts as a norm if no kernel of the step is known as one
  kReduceNorm,   // an all-reduce and a norm in one kernel
  kProduct,      // matrix product
  kProductPart,  // adds up the parts of the product before it (split-K)
  kSide,         // a product or activation on a stream other than that of the mixers
  kExperts,      // matrix products of experts
  kRouting,      // chooses the experts of each token
  kRope,
  kCacheWrite,
  kActivation,
  kExchange,    // moves tokens between the ranks of their experts
  kTransfer,    // from rank to rank, between pipeline stages
  kCollective,  // any other communication
  kEmbedding,
  kIndex,  // gathers rows: for an embedding, or of the last tokens
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

// Whether a kernel of this name only adds up the parts of a matrix product (split-K).
bool IsProductPart(std::string_view name);

// The role of each WorkCategory. `categories`: DeviceWork::categories.
std::vector<LayerRole> RolesOf(const std::vector<std::string>& categories);

}  // namespace tacho
