#pragma once

#include <string_view>

#include "base/result.h"

namespace tacho {

// The variation of fixed lengths: uniform from (1-x) to (1+x) times their length; 0 <= x < 1.
struct LengthSpread {
  double prompt = 0, output = 0;
};

// "0.3" for both, or {"input": 0.3, "output": 0.5}, as vLLM's --random-range-ratio. kUsage:
// neither form, or out of range.
Result<LengthSpread> ParseLengthSpread(std::string_view text);

}  // namespace tacho
