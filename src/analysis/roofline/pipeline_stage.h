#pragma once

#include <cstdint>
#include <optional>

#include "analysis/roofline/decoder_shape.h"

namespace tacho {

// The part of `model` that stage `stage` (from 0) of a pipeline with `stages` stages runs, if its
// traces have `layers` layers: consecutive layers, and lm_head in the last stage. nullopt if
// neither engine divides the model like this, or if two ways fit and differ.
//
// Where the layers do not divide evenly, vLLM gives one layer more to the stages before the last,
// from the back, and SGLang to the last stages (get_pp_indices in their distributed/utils.py).
std::optional<DecoderShape> StageOfPipeline(const DecoderShape& model, int64_t stage,
                                            int64_t stages, size_t layers);

}  // namespace tacho
