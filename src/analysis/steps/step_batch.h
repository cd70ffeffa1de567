#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/steps/step_grammar.h"

namespace tacho {

// Steps of one phase with batches of about one size: what may be compared with each other.
//
// Decode steps are grouped by their requests: up to 8 by the exact number, then in the sizes for
// which engines capture graphs (multiples of 8 up to 256, of 16 up to 512; vLLM's
// cudagraph_capture_sizes), then in powers of two. All other steps are grouped by their tokens, in
// groups whose bounds are 2^(1/4) apart.
struct StepBatch {
  Phase phase = Phase::kOther;
  int64_t most = 0;  // the largest size of the group; 0: steps that do not report their size

  auto operator<=>(const StepBatch&) const = default;
};
StepBatch BatchOf(const StepLabel& label);

// The size that steps are grouped by: requests for a decode step, tokens for all others; absent if
// the annotation does not say.
std::optional<int64_t> BatchSize(const StepLabel& label);

// "8 requests", "up to 64 requests", "up to 2,436 tokens", "any batch".
std::string BatchName(const StepBatch& batch);

}  // namespace tacho
