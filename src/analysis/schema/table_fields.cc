#include "analysis/schema/table_fields.h"

#include "base/time.h"

namespace tacho::schema {

StepSums SumsOf(const StepTable& steps) {
  StepSums sums;
  sums.by_phase = {
      {Phase::kPrefill, 0}, {Phase::kDecode, 0}, {Phase::kMixed, 0}, {Phase::kEmpty, 0}};
  const auto add = [](std::optional<int64_t>& sum, int64_t more) {
    if (more >= 0) sum = AddSaturated(sum.value_or(0), more);
  };
  for (const Step& step : steps.steps) {
    ++sums.by_phase[step.label.phase];
    add(sums.context_tokens, step.label.context_tokens);
    add(sums.generation_tokens, step.label.generation_tokens);
  }
  return sums;
}

}  // namespace tacho::schema
