#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tacho {

enum class Phase : uint8_t { kPrefill, kDecode, kMixed, kEmpty, kOther };
constexpr size_t kPhaseCount = 5;
std::string_view PhaseName(Phase phase);

// What an engine's step annotation says. Requests and tokens are -1 if the grammar does not give
// them. A prefill step has no generation and a decode step no context; these count as known: 0.
struct StepLabel {
  Phase phase = Phase::kOther;
  int64_t context_requests = -1, context_tokens = -1;
  int64_t generation_requests = -1, generation_tokens = -1;
};
struct ParsedStep {
  std::string_view engine;  // whose grammar: "vllm", "sglang", "atom", "torch" (ProfilerStep);
                            // "" where several write the name
  StepLabel label;
  // Covers only a part of each step; used only if no annotation covers whole steps.
  bool is_part = false;
};
// Reads one annotation by the grammars in rules/steps.rules; nullopt when it is no step. There are
// grammars of vLLM ("execute_context_1(32)_generation_0(0)", and the detailed form), SGLang
// ("step[DECODE bs=4]") and training ("ProfilerStep#7", which is used only when no engine's step is
// there). Cost: rules times the length of the annotation.
std::optional<ParsedStep> ParseStep(std::string_view annotation);

}  // namespace tacho
