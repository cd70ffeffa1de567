#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/layers/layer_roles.h"

namespace tacho {

// The place of one layer in the work of a step: [begin, end), with its mixers in
// [mixer, mixer_end).
struct LayerSpan {
  size_t begin = 0, mixer = 0, mixer_end = 0, end = 0;
  bool operator==(const LayerSpan&) const = default;
};

// Finds the layers in the work of one step on one device, in the order of its start.
//
// Each layer has one group of mixers. A layer begins with the norm before the products that feed
// its mixers: in the first layer that is the first norm after the embedding, and the number of
// products between the two holds for all later layers of the same mixer (with latent attention,
// norms stand between these products). A layer ends where the next one begins; the last one has
// the same work after its mixer as the one before it, else it ends at the final norm.
//
// Empty if fewer than two layers are there: nothing repeats. Cost: O(n).
std::vector<LayerSpan> FindLayerSpans(std::span<const LayerRole> roles);

// The roles in [begin, end) that say something.
std::vector<LayerRole> TellingRoles(std::span<const LayerRole> roles, size_t begin, size_t end);

// Whether these are the layers of one model: all have an MLP or none has, none holds an embedding,
// and each is like another one; the first and the last of four or more may differ. Elsewhere, with
// a second model in the step or with layers that are made in another way, they are not to be
// trusted. Cost: O(n log l) for l layers.
bool AreRegular(std::span<const LayerRole> roles, std::span<const LayerSpan> layers);

}  // namespace tacho
