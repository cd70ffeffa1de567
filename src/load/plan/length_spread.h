#pragma once

#include <string_view>

#include "base/result.h"

namespace tacho {

// How much fixed lengths vary: uniformly between (1-x) and (1+x) times the length; 0 <= x < 1.
struct LengthSpread {
  double prompt = 0, output = 0;
};

// Parses "0.3" for both lengths, or {"input": 0.3, "output": 0.5}, as vLLM's --random-range-ratio.
// kUsage: neither form, or a value out of range.
Result<LengthSpread> ParseLengthSpread(std::string_view text);

}  // namespace tacho
