#include "simulate/known/load_mix.h"

#include <algorithm>

#include "base/random.h"
#include "simulate/engine/batcher.h"

namespace tacho::simulate {
namespace {

constexpr int64_t kLaterOneIn = 8;  // a later request joins in one of this many steps

int64_t About(int64_t mean, Random& random) {
  return std::max<int64_t>(1, random.Between(mean / 2, mean + mean / 2));
}

}  // namespace

std::vector<StepLoad> LoadsOf(const LoadMix& mix, bool mixes, int64_t steps, uint64_t seed) {
  Random random(seed, 3);
  Batcher batcher({.max_num_seqs = mix.requests,
                   .max_num_batched_tokens = mix.max_batched_tokens,
                   .mixes = mixes,
                   .cache_tokens = INT64_MAX});
  uint64_t id = 0;
  int64_t left = 0;  // requests that the wave has still to send
  const auto add = [&](int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      batcher.Add({.id = ++id,
                   .prompt_tokens = About(mix.prompt_tokens, random),
                   .output_tokens = About(mix.output_tokens, random)});
    }
  };
  std::vector<StepLoad> loads;
  while (static_cast<int64_t>(loads.size()) < steps) {
    if (batcher.idle()) {
      // On average, every second wave begins with as many requests as there is room for, the others
      // with any number.
      const int64_t at_once =
          random.Between(0, 1) == 0 ? mix.requests : random.Between(1, mix.requests);
      left = random.Between(0, 4);
      add(at_once);
    } else if (left > 0 && random.Between(1, kLaterOneIn) == 1) {
      --left;
      add(1);
    }
    const StepBatch batch = batcher.Schedule();
    loads.push_back(batch.load);
    batcher.Complete(batch);
  }
  return loads;
}

}  // namespace tacho::simulate
