#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/steps/step_grammar.h"
#include "base/time.h"

namespace tacho {

// A request's prompt, as far as the engine's steps are concerned.
struct PromptToRead {
  // The step that made its first token, so it read the last part of the prompt.
  uint32_t last_step = 0;
  // What is to be read: without the part from the cache. Absent: unknown.
  std::optional<int64_t> tokens;
};

// Which steps read a prompt. It is read in each step that reads prompts, from its first step to
// PromptToRead::last_step. Its first step is not before `first_at_least` and not after
// `first_at_most`.
struct PromptReads {
  uint32_t first_at_least = 0, first_at_most = 0;
  [[nodiscard]] bool exact() const { return first_at_least == first_at_most; }
  bool operator==(const PromptReads&) const = default;
};

// Assigns the prompt tokens of steps to the prompts, which the engine reads one after the other: a
// step may complete several of them, and can leave at most one half read, which goes on in the next
// step that reads prompts (chunked prefill of vLLM and SGLang). The numbers of requests and tokens
// in the labels must be exactly those of the prompts; where they are not (a request of somebody
// else, an unknown cache, another way to schedule), it is unknown when the reading began.
//
// `earliest`: by prompt, the first step that could have read it; at most its last_step. `labels`:
// of the steps of one engine, in order. Returns the reads by prompt. Cost: O(steps + n log n).
std::vector<PromptReads> FindPromptReads(const std::vector<StepLabel>& labels,
                                         const std::vector<PromptToRead>& prompts,
                                         const std::vector<uint32_t>& earliest);

}  // namespace tacho
