#pragma once

#include <cstdint>

namespace tacho::simulate {

// What one engine step computes, summed over its requests. "Context": requests whose prompts the
// step reads. "Generation": requests that make one token per step.
struct StepLoad {
  struct Part {
    int64_t requests = 0;
    int64_t tokens = 0;  // new tokens in this step ("sq" in detailed annotations)
    int64_t kv = 0;      // total length of the requests after this step ("sk")
    int64_t tokens_squared = 0;
    int64_t tokens_times_kv = 0;

    constexpr void Add(int64_t new_tokens, int64_t length_after) {
      ++requests;
      tokens += new_tokens;
      kv += length_after;
      tokens_squared += new_tokens * new_tokens;
      tokens_times_kv += new_tokens * length_after;
    }
    constexpr bool operator==(const Part&) const = default;
  };
  Part context, generation;
  int64_t sampled = 0;       // requests for which this step makes a token
  int64_t new_requests = 0;  // requests that are in a step for the first time
  // Tokens that a draft model proposes for each request of the generation. The step verifies them:
  // it computes one token more than proposed, and then the draft model proposes as many again.
  int64_t proposed = 0;
  int64_t accepted = -1;  // how many of them the model accepts, of all requests; -1: not simulated

  constexpr int64_t tokens() const { return context.tokens + generation.tokens; }
  constexpr bool empty() const { return tokens() == 0; }
  constexpr bool operator==(const StepLoad&) const = default;
};

// The phase that the engines' annotations show for a step.
constexpr const char* PhaseOf(const StepLoad& load) {
  if (load.empty()) return "empty";
  if (load.generation.requests == 0) return "prefill";
  return load.context.requests == 0 ? "decode" : "mixed";
}

}  // namespace tacho::simulate
