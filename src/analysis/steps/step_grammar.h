#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tacho {

enum class Phase : uint8_t { kPrefill, kDecode, kMixed, kEmpty, kOther };
constexpr size_t kPhaseCount = 5;
std::string_view PhaseName(Phase phase);

// What the annotation of an engine step tells. A number is -1 if the annotation does not give it.
// Some numbers are always known: those of generation are 0 in a prefill step, and those of context
// are 0 in a decode step.
//
// Each request of a step has q new tokens and k tokens in all, including the new ones. Detailed
// annotations give sums over the requests, for context and generation separately.
struct StepLabel {
  Phase phase = Phase::kOther;
  int64_t context_requests = -1, context_tokens = -1;        // number of prompts, sum of q
  int64_t generation_requests = -1, generation_tokens = -1;  // the same for answers
  int64_t context_k = -1, context_qq = -1, context_qk = -1;  // sums of k, q*q and q*k
  int64_t generation_k = -1, generation_qk = -1;
};
struct ParsedStep {
  // The engine whose grammar matched: "vllm", "sglang", "atom", or "torch" for ProfilerStep. "" if
  // several engines write annotations of this form.
  std::string_view engine;
  StepLabel label;
  // The annotation covers only a part of a step. It counts only if no annotation covers whole
  // steps.
  bool is_part = false;
  // The step verifies tokens that were proposed (speculative decoding): the annotation says so, or
  // answers have more new tokens than requests.
  bool verifies = false;
};
// Reads an annotation by the grammars in rules/steps.rules; nullopt if it is not a step. There are
// grammars for vLLM ("execute_context_1(32)_generation_0(0)", and a more detailed form), SGLang
// ("step[DECODE bs=4]") and training ("ProfilerStep#7", which counts only if the trace has no steps
// of an engine). Cost: number of rules times length of the annotation.
std::optional<ParsedStep> ParseStep(std::string_view annotation);
// Whether an annotation names the part of a step in which a draft model proposes tokens
// ("step[DRAFT_LOOP raw_bs=1 bs=2 topk=4]", "gpu_model_runner: draft"). Cost: as of ParseStep.
bool IsDraft(std::string_view annotation);

}  // namespace tacho
