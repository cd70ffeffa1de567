#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// What a piece of device work is for the structure of a transformer.
enum class LayerRole : uint8_t {
  kOther,       // says nothing by itself: elementwise, copies, quantization, indices
  kCopy,        // says nothing either; but after a collective it is part of it
  kMixer,       // mixes tokens: attention
  kStateSpace,  // mixes tokens: a state space or a linear attention
  kMixerPart,   // belongs to the attention beside it: merging, softmax
  kNorm,
  kReduction,   // a norm, if no kernel is known as one
  kReduceNorm,  // an all-reduce and a norm in one kernel
  kProduct,     // of matrices
  kExperts,     // products of experts
  kRouting,     // of tokens to experts
  kRope,
  kCacheWrite,
  kActivation,
  kExchange,    // of tokens with the ranks of their experts
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

// By WorkCategory. `categories`: DeviceWork::categories.
std::vector<LayerRole> RolesOf(const std::vector<std::string>& categories);

}  // namespace tacho
