#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "session/files/transport.h"

namespace tacho {

// The text of a model's config.json, or of another `file`, on the host of its engine: from the
// folder `model`, or from the newest copy in the cache of Hugging Face's hub if `model` is a name
// such as "Qwen/Qwen3-8B". "" if it is not there, is larger than 1 MB, or does not come within
// `patience`.
std::string FetchModelConfig(const Transport& host, const std::string& model,
                             std::chrono::milliseconds patience,
                             std::string_view file = "config.json");

}  // namespace tacho
