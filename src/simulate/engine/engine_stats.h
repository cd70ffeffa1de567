#pragma once

#include <array>
#include <cstdint>

#include "simulate/engine/histogram.h"
#include "simulate/engine/step_load.h"

namespace tacho::simulate {

enum class FinishReason : uint8_t { kStop, kLength, kAbort, kError, kRepetition, kCount };

// An engine's counters since its start, from which its metrics are made.
struct EngineStats {
  static constexpr std::array kSeconds = {0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08,
                                          0.1,   0.25,  0.5,  0.75, 1.0,  2.5,  5.0,
                                          7.5,   10.0,  20.0, 40.0, 80.0, 160.0};
  static constexpr std::array kShortSeconds = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3,
                                               0.4,  0.5,   0.75, 1.0,   2.5, 5.0,  10.0};
  static constexpr std::array kTokens = {1.0,   2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0,
                                         500.0, 1e3, 2e3, 5e3,  1e4,  2e4,  5e4,   1e5};
  static constexpr std::array kStepTokens = {1.0,   8.0,    16.0,   32.0,   64.0,   128.0,  256.0,
                                             512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0};

  uint64_t prompt_tokens = 0, cached_tokens = 0, generation_tokens = 0;
  uint64_t steps = 0;  // without empty steps
  std::array<uint64_t, static_cast<size_t>(FinishReason::kCount)> finished{};
  Histogram step_tokens{kStepTokens};
  Histogram first_token_s{kSeconds}, inter_token_s{kShortSeconds},
      per_output_token_s{kShortSeconds};
  Histogram e2e_s{kSeconds}, queue_s{kSeconds}, prefill_s{kSeconds}, decode_s{kSeconds},
      inference_s{kSeconds};
  Histogram request_prompt_tokens{kTokens}, request_generation_tokens{kTokens};
  double last_generation_tokens_s = 0;  // in the last second with work
  // Of speculative decoding: requests whose proposed tokens were verified, one for each step.
  uint64_t drafts = 0, draft_tokens = 0, accepted_tokens = 0;
  // Tokens that such a step made for a request, as the mean of 40 steps (SGLang's interval).
  double accept_length = 0;

  void Count(const StepLoad& load) {
    if (load.proposed == 0) return;
    const auto requests = static_cast<uint64_t>(load.generation.requests);
    drafts += requests;
    draft_tokens += requests * static_cast<uint64_t>(load.proposed);
    accepted_tokens += static_cast<uint64_t>(load.accepted);
    if (++speculative_steps_ % 40 != 0) return;
    accept_length = 1 + static_cast<double>(accepted_tokens - accepted_shown_) /
                            static_cast<double>(drafts - drafts_shown_);
    accepted_shown_ = accepted_tokens;
    drafts_shown_ = drafts;
  }

 private:
  uint64_t speculative_steps_ = 0, accepted_shown_ = 0, drafts_shown_ = 0;
};

}  // namespace tacho::simulate
