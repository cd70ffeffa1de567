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
Result<DecoderShape> ParseModelConfig(std::string_view text);
// The same of a file, or of the config.json in a folder. Errors name the file.
Result<DecoderShape> ReadModelConfig(const std::string& path);

// Adds the model and the number of tensor-parallel ranks to `setup` if `setup` has none, as far as
// `tacho record` kept them for the worker that `trace` (a path) belongs to.
RooflineSetup WithKeptModel(RooflineSetup setup, const std::string& trace);

}  // namespace tacho
