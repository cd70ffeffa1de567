#pragma once

#include <string>
#include <string_view>

#include "analysis/roofline/roofline.h"
#include "base/result.h"

namespace tacho {

// The sizes of a model from the text of its Hugging Face config.json; of a model that reads images
// too, from its `text_config`. kUsage, and what is wrong: no JSON object, a `model_type` that is
// not in the list of model_config.cc, a size that is missing or impossible, or weights stored in an
// unknown way.
Result<DecoderShape> ParseModelConfig(std::string_view text);
// The same of a file, or of the config.json in a folder. Errors name the file.
Result<DecoderShape> ReadModelConfig(const std::string& path);

// `setup`; without a model it gets the one that `tacho record` kept for the worker whose trace this
// is, if it kept one.
RooflineSetup WithKeptModel(RooflineSetup setup, const std::string& trace);

}  // namespace tacho
