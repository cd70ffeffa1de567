#pragma once

#include <cstdint>
#include <vector>

#include "simulate/engine/step_load.h"

namespace tacho::simulate {

// A workload for runs that are planned without a clock. Requests come in waves. A wave begins with
// several requests at once, at most `requests`; more follow one by one. The next wave comes when
// all requests are answered. So there are steps of every phase and batches of many sizes.
struct LoadMix {
  int64_t requests = 32;
  int64_t prompt_tokens = 256, output_tokens = 16;  // means; values are 0.5 to 1.5 times the mean
  int64_t max_batched_tokens = 8192;                // new tokens per step
};

// The loads of the first `steps` steps. `mixes`: prompts and generation share steps, as in vLLM;
// else prompts come first, as in SGLang. Deterministic.
std::vector<StepLoad> LoadsOf(const LoadMix& mix, bool mixes, int64_t steps, uint64_t seed);

}  // namespace tacho::simulate
