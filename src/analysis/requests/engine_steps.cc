#include "analysis/requests/engine_steps.h"

#include <algorithm>
#include <tuple>

namespace tacho {

JoinEngine EngineOf(const TraceDigest& digest, const std::optional<ClockShift>& to_client) {
  JoinEngine engine;
  const ClockShift shift = to_client.value_or(ClockShift{{}, std::nullopt});
  engine.clock_error = shift.error;
  engine.steps.reserve(digest.steps.size());
  for (uint32_t i = 0; i < digest.steps.size(); ++i)
    engine.steps.push_back({digest.steps[i].label, shift.Convert(digest.steps[i].when), i});
  std::ranges::stable_sort(engine.steps, {}, [](const EngineStep& step) {
    return std::tuple(step.when.start, step.when.end);
  });
  return engine;
}

}  // namespace tacho
