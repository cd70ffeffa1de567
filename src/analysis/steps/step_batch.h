#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "analysis/steps/step_grammar.h"

namespace tacho {

// A group of steps of one phase and about one batch size. Only steps of the same group may be
// compared with each other.
//
// Decode steps are grouped by their number of requests: up to 8 by the exact number; then by the
// sizes for which engines capture graphs (multiples of 8 up to 256, of 16 up to 512, as in vLLM's
// cudagraph_capture_sizes); then by powers of two. All other steps are grouped by their number of
// tokens; each group's limit is 2^(1/4) times the limit of the group before.
struct StepBatch {
  Phase phase = Phase::kOther;
  int64_t most = 0;  // the largest batch size of the group; 0: the steps do not report their size

  auto operator<=>(const StepBatch&) const = default;
};
StepBatch BatchOf(const StepLabel& label);

// The size that a step is grouped by: requests for a decode step, tokens for any other step. Absent
// if the annotation does not tell it.
std::optional<int64_t> BatchSize(const StepLabel& label);

// Returns "8 requests", "up to 64 requests", "up to 2,436 tokens" or "any batch".
std::string BatchName(const StepBatch& batch);

}  // namespace tacho
