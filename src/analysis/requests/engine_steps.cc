#include "analysis/requests/engine_steps.h"

#include <algorithm>
#include <tuple>

namespace tacho {
namespace {

bool MaySpeculate(const StepLabel& label) {
  return label.generation_requests > 0 && label.generation_tokens != label.generation_requests;
}

TimeNs MadeBy(const DigestStep& step, bool by_device) {
  if (!by_device || step.device.empty()) return step.when.end;
  return std::max(step.when.end, step.device.start + step.device_busy);
}

}  // namespace

JoinEngine EngineOf(const TraceDigest& digest, const std::optional<ClockShift>& to_client) {
  JoinEngine engine;
  const ClockShift shift = to_client.value_or(ClockShift{{}, std::nullopt});
  engine.clock_error = shift.error;
  engine.steps.reserve(digest.steps.size());
  const bool by_device = std::ranges::none_of(
      digest.steps, [](const DigestStep& step) { return MaySpeculate(step.label); });
  for (uint32_t i = 0; i < digest.steps.size(); ++i) {
    const DigestStep& step = digest.steps[i];
    engine.steps.push_back(
        {step.label, shift.Convert(step.when), shift.Convert(MadeBy(step, by_device)), i});
  }
  std::ranges::stable_sort(engine.steps, {}, [](const EngineStep& step) {
    return std::tuple(step.when.start, step.when.end);
  });
  return engine;
}

}  // namespace tacho
