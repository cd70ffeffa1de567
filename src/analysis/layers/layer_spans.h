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
// Each layer has one group of mixers. A layer begins with the norm before the matrix products that
// feed its mixers. In the first layer this is the first norm after the embedding. Some models (with
// latent attention) have more norms between these products. So the products from the first layer's
// norm to its mixer are counted, and a later layer with the same kind of mixer begins at the norm
// that has as many products between it and the mixer.
//
// A layer ends where the next one begins. The last layer ends after as many products behind its
// mixer as an earlier layer of its kind (or else the layer before it) has. If its work then differs
// from the work of that layer, it ends at the final norm.
//
// Empty if there are fewer than two layers, because then nothing repeats. Cost: O(n).
std::vector<LayerSpan> FindLayerSpans(std::span<const LayerRole> roles);

// The roles in [begin, end), without those that tell nothing (SaysNothing). kSide comes last,
// because how work on another stream mixes with the rest differs from layer to layer.
std::vector<LayerRole> TellingRoles(std::span<const LayerRole> roles, size_t begin, size_t end);

// Whether `layers` look like the layers of one model: either all have an MLP or none has, none
// holds an embedding, and each has the same work as some other layer. If there are four or more
// layers, the first and the last may differ. If the result is false, the layers are not reliable,
// for example because a second model runs in the step. Cost: O(n log l) for l layers.
bool AreRegular(std::span<const LayerRole> roles, std::span<const LayerSpan> layers);

}  // namespace tacho
