#pragma once

#include <string>

#include "analysis/layers/layer_table.h"

namespace tacho {

// How the layers of a phase were found, and their kinds if there are several: "24 layers by the
// order of the kernels, in 40 of 42 steps: 12 of attention, experts 1; 12 of attention, experts 2;
// in gaps ...".
std::string LayersText(const LayerTable& layers, const PhaseLayers& phase);

}  // namespace tacho
