#pragma once

#include <cstdint>

namespace tacho::simulate {

// What one engine step computes, summed over its requests. "Context": requests whose prompts are
// still being computed. "Generation": requests that make one token after the other.
struct StepLoad {
  struct Part {
    int64_t requests = 0;
    int64_t tokens = 0;  // new in this step ("sq" in detailed annotations)
    int64_t kv = 0;      // length of the requests after this step ("sk")
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
  int64_t sampled = 0;       // requests that get a token from this step
  int64_t new_requests = 0;  // requests that are in a step for the first time

  constexpr int64_t tokens() const { return context.tokens + generation.tokens; }
  constexpr bool empty() const { return tokens() == 0; }
  constexpr bool operator==(const StepLoad&) const = default;
};

// The phase that the engines' annotations show: "prefill", "decode", "mixed" or "empty".
constexpr const char* PhaseOf(const StepLoad& load) {
  if (load.empty()) return "empty";
  if (load.generation.requests == 0) return "prefill";
  return load.context.requests == 0 ? "decode" : "mixed";
}

}  // namespace tacho::simulate
