#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/layers/layer_roles.h"

namespace tacho {

// Where one layer stands among the pieces of a step's work: at the indexes [begin, end), with its
// mixers (attention or state space) at [mixer, mixer_end).
struct LayerSpan {
  size_t begin = 0, mixer = 0, mixer_end = 0, end = 0;
  bool operator==(const LayerSpan&) const = default;
};

// Finds the layers in the work of one step on one device. `roles`: one role for each piece of work,
// sorted by start.
//
// Each layer has one group of mixers. A layer begins with the norm before the products that feed
// its mixers. In the first layer this is the first norm after the embedding. The products between
// this norm and the mixer are counted, because some models (with latent attention) have more norms
// between these products; all later layers with the same kind of mixer have the same number of
// products there. A layer ends where the next one begins. The last layer ends after the same work
// that follows the mixer in the layer before it; if it differs from that layer, it ends at the
// final norm.
//
// Empty if there are fewer than two layers, because then nothing repeats. Cost: O(n).
std::vector<LayerSpan> FindLayerSpans(std::span<const LayerRole> roles);

// The roles in [begin, end), without those that tell nothing (SaysNothing).
std::vector<LayerRole> TellingRoles(std::span<const LayerRole> roles, size_t begin, size_t end);

// Whether `layers` look like the layers of one model: either all have an MLP or none has, none
// holds an embedding, and each has the same work as another one. If there are four or more, the
// first and the last may differ. If this is false, the layers found are not reliable, for example
// because a second model runs in the step or its layers have another structure. Cost: O(n log l)
// for l layers.
bool AreRegular(std::span<const LayerRole> roles, std::span<const LayerSpan> layers);

}  // namespace tacho
