#pragma once

#include <string>
#include <string_view>

#include "analysis/roofline/roofline.h"
#include "base/result.h"

namespace tacho {

// Reads the sizes of a model from the text of its Hugging Face config.json. If the file has a
// `text_config`, as for models that also read images, the sizes come from there. kUsage if the text
// is not a JSON object, the `model_type` is not in the list of model_config.cc, a size is missing
// or impossible, or the weights are stored in an unknown way; the message says which.
// `quantization`: the text of the kQuantizationFile beside it, which counts if the config.json says
// nothing about number formats; "" without such a file.
Result<DecoderShape> ParseModelConfig(std::string_view text, std::string_view quantization = "");
// ModelOpt 0.29 and older writes the number formats into this file.
inline constexpr std::string_view kQuantizationFile = "hf_quant_config.json";
// The same of a file, or of the config.json in a folder. Errors name the file.
Result<DecoderShape> ReadModelConfig(const std::string& path);

// Adds what `tacho record` kept for the worker that `trace` (a path) belongs to: the model and the
// number of tensor-parallel ranks if `setup` has none, the stages of its pipeline, and the number
// formats that the engine was told.
RooflineSetup WithKeptModel(RooflineSetup setup, const std::string& trace);

}  // namespace tacho
