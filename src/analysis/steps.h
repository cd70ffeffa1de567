#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/launches.h"
#include "analysis/scope.h"
#include "model/trace.h"

namespace tacho {

enum class Phase : uint8_t { kPrefill, kDecode, kMixed, kEmpty, kOther };
std::string_view PhaseName(Phase phase);

// What an engine's step annotation says. Requests and tokens are -1 where the grammar does not
// tell; a prefill step has no generation and a decode step no context, which counts as told: 0.
struct StepLabel {
  Phase phase = Phase::kOther;
  int64_t context_requests = -1, context_tokens = -1;
  int64_t generation_requests = -1, generation_tokens = -1;
};
// Reads one annotation by the grammars in rules/steps.rules; nullopt when it is no step. Grammars
// of vLLM ("execute_context_1(32)_generation_0(0)", and the detailed form), SGLang
// ("step[DECODE bs=4]") and training ("ProfilerStep#7", which is used only when no engine's step is
// there).
std::optional<StepLabel> ParseStep(std::string_view annotation);
// Whose grammar reads the annotation: "vllm", "sglang", "atom", "torch" (ProfilerStep), "" for
// none.
std::string_view StepEngine(std::string_view annotation);

struct Step {
  StepLabel label;
  Interval when;
  // Start to start of the next step on the same track; the last has none.
  std::optional<DurationNs> period;
  bool cut = false;  // part of it lies outside of the scope's window
  // The GPU work launched inside the annotation, by the calls on its track: first start to last
  // end, and its union over all devices of the scope. Absent without any.
  std::optional<DurationNs> device_span = {}, device_busy = {};
};

// Engine steps in the order of their start. An annotation inside another one of the same track is
// the same step under a second name (patched builds of SGLang write two forms). A step counts,
// whole, when it touches the scope's window; its period is taken before that, from all steps.
// ProfilerStep#7 is a step under any category: old files have it as an operator.
struct StepTable {
  // "annotated", also of a vLLM that stamps its version and ran no step; "" when the trace has no
  // step annotation.
  std::string method;
  std::vector<Step> steps;
};
StepTable FindSteps(const Trace& trace, const Scope& scope = {});
// The same with the times on the device. Cost: O(n), and a sort of the work of each step.
StepTable FindSteps(const Trace& trace, const LaunchLinks& links, const Scope& scope = {});

// By StringId, which names are training steps ("ProfilerStep#7"); empty when none is.
std::vector<bool> TrainingStepNames(const Trace& trace);

}  // namespace tacho
