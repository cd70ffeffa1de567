#pragma once

#include <string>
#include <string_view>

#include "analysis/roofline/decoder_shape.h"
#include "base/result.h"

namespace tacho {

// How a checkpoint stores its numbers.
struct NumberFormats {
  WeightFormat weights, expert_weights;
  double cache_bytes = 2;  // of one cached value, if the engine is not told otherwise
};

// Reads the text of the quantization_config of a config.json. `only_experts`: the other weights
// have 16 bits. kUsage if tacho has no formulas for it, or if some products are left out of it.
Result<NumberFormats> ReadQuantization(std::string_view text, bool only_experts);

// What an engine was told about its numbers, in its own words: the values of vLLM's and SGLang's
// --dtype, --quantization and --kv-cache-dtype; "" where it says nothing.
struct EngineFormats {
  std::string dtype, quantization, kv_cache;
};
// Sets the formats in which the engine runs the model. A checkpoint that is quantized keeps its own
// format of weights, which is what its engine then reports. Returns what has no formulas, such as
// "dtype float32", or "".
std::string ApplyEngineFormats(const EngineFormats& formats, DecoderShape& model);

}  // namespace tacho
