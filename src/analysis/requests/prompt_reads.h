#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/steps/step_grammar.h"
#include "base/time.h"

namespace tacho {

// The prompt of one request.
struct PromptToRead {
  // The step that made its first token, so it read the last part of the prompt.
  uint32_t last_step = 0;
  // How many tokens must be read: those that are not cached. Absent: unknown.
  std::optional<int64_t> tokens;
};

// Which steps read a prompt: all steps that read prompts, from a first step to
// PromptToRead::last_step. The first step is in [first_at_least, first_at_most].
struct PromptReads {
  uint32_t first_at_least = 0, first_at_most = 0;
  [[nodiscard]] bool exact() const { return first_at_least == first_at_most; }
  bool operator==(const PromptReads&) const = default;
};

// Finds which steps read which prompts. The engine reads prompts one after the other: a step may
// complete several, and leaves at most one half read; the next step that reads prompts continues
// it (chunked prefill of vLLM and SGLang). The requests and tokens that a step reads must agree
// exactly with `prompts`. Where they do not (a request without a record, an unknown cache, another
// way to schedule), the first step of a prompt remains a range.
//
// `labels`: those of one engine's steps, in order. `earliest[i]`: the first step that could have
// read prompts[i], at most its last_step. Returns one entry for each of the n prompts. Cost:
// O(steps + n log n).
std::vector<PromptReads> FindPromptReads(const std::vector<StepLabel>& labels,
                                         const std::vector<PromptToRead>& prompts,
                                         const std::vector<uint32_t>& earliest);

}  // namespace tacho
