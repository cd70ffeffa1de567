#include "analysis/requests/step_rooms.h"

#include <algorithm>

namespace tacho {
namespace {

constexpr int32_t kNoLimit = SlotProblem::kNoLimit;

int32_t Clamped(int64_t count) {
  return static_cast<int32_t>(std::clamp<int64_t>(count, 0, kNoLimit));
}

// Whether the annotation says enough to know how many tokens the step makes.
bool SaysTokens(const StepLabel& label) {
  if (label.context_requests < 0 || label.generation_requests < 0) return false;
  return label.generation_requests == 0 || label.generation_tokens >= label.generation_requests;
}

}  // namespace

StepRooms::StepRooms(const std::vector<EngineStep>& steps) {
  uint32_t uneven = 0;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    const StepLabel& label = steps[i].label;
    prompts_before.push_back(static_cast<uint32_t>(prompts.size()));
    answers_before.push_back(static_cast<uint32_t>(answers.size()));
    counts |= label.context_requests >= 0 || label.generation_requests >= 0;
    const bool known = SaysTokens(label);
    if (!known || label.context_requests > 0) {
      prompt_steps.push_back(i);
      prompts.push_back({{0, known ? Clamped(label.context_requests) : kNoLimit}, 1});
      prompt_tokens.push_back(known ? label.context_tokens : -1);
    }
    if (!known || label.generation_requests > 0) {
      const int32_t requests = Clamped(label.generation_requests);
      const int32_t tokens = known ? Clamped(label.generation_tokens) : kNoLimit;
      const bool exact = known && tokens == requests;
      uneven_before.push_back(uneven);
      uneven += exact ? 0 : 1;
      answer_steps.push_back(i);
      answers.push_back({{exact ? requests : 0, tokens}, known ? tokens - requests + 1 : kNoLimit});
    }
  }
  prompts_before.push_back(static_cast<uint32_t>(prompts.size()));
  answers_before.push_back(static_cast<uint32_t>(answers.size()));
  uneven_before.push_back(uneven);
}

}  // namespace tacho
