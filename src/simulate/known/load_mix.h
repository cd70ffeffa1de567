#pragma once

#include <cstdint>
#include <vector>

#include "simulate/engine/step_load.h"

namespace tacho::simulate {

// A workload for runs without a clock. Requests come in waves: some at once, up to `requests`, then
// one now and then; the next wave comes when all are answered. So there are steps of every phase,
// and batches of many sizes.
struct LoadMix {
  int64_t requests = 32;
  int64_t prompt_tokens = 256, output_tokens = 16;  // means; each value is 0.5 to 1.5 times that
  int64_t max_batched_tokens = 8192;                // new tokens of a step
};

// What the first `steps` steps compute. `mixes`: prompts and generation share steps, as in vLLM;
// else prompts come first, as in SGLang. Deterministic.
std::vector<StepLoad> LoadsOf(const LoadMix& mix, bool mixes, int64_t steps, uint64_t seed);

}  // namespace tacho::simulate
