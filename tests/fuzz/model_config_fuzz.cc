// The reader of a model's config.json: any text. What it accepts has work that can be added up.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "analysis/roofline/block_work.h"
#include "run/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto shape =
      tacho::ParseModelConfig(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!shape) return 0;
  const tacho::StepTokens tokens{{.requests = 2, .q = 9, .k = 20, .qk = 90, .qq = 41},
                                 {.requests = 3, .q = 3, .k = 60, .qk = 60}};
  for (const tacho::BlockWork& work : tacho::WorkOfStep(*shape, 2, tokens)) {
    const double sum = work.flops + work.bytes + work.link_bytes;
    if (!std::isfinite(sum) || !(work.flops >= 0 && work.bytes >= 0)) std::abort();
  }
  return 0;
}
