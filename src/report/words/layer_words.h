#pragma once

#include <string>
#include <string_view>

#include "analysis/layers/layer_table.h"

namespace tacho {

// Why no layers were found: "no step of the engine is named"; "" if they were.
std::string_view WhyNoLayers(LayersState state);

// "36 layers by the order of the kernels, in 40 of 42 steps"; kinds follow if there are several:
// "24 layers by the order of the kernels: 12 of attention, experts 1; 12 of attention, experts 2".
std::string LayersText(const LayerTable& layers);

}  // namespace tacho
