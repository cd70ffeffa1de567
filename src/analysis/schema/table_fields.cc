#include "analysis/schema/table_fields.h"

#include <algorithm>

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

bool IsConsistent(const StepProfile& profile, const std::vector<Step>& steps, size_t devices,
                  size_t kernels) {
  std::map<StepBatch, uint64_t> rows;
  for (const StepProfile::Row& row : profile.rows) {
    DurationNs sum;
    for (const DurationNs part : row.ns) sum += part;
    if (row.step >= steps.size() || row.device >= devices ||
        row.ns.size() != profile.parts.size() || sum != row.when.length())
      return false;
    ++rows[BatchOf(steps[row.step].label)];
  }
  return rows.size() == profile.batches.size() &&
         std::ranges::all_of(profile.batches, [&](const StepProfile::Batch& batch) {
           const auto of_batch = rows.find(batch.batch);
           return of_batch != rows.end() && of_batch->second == batch.steps &&
                  std::ranges::all_of(batch.kernels, [&](const StepProfile::KernelUse& use) {
                    return use.kernel < kernels && use.calls > 0;
                  });
         });
}

bool AddsUp(const IdleTable& idle) {
  int64_t left = idle.window.ns - idle.busy.ns;
  for (const IdleCauseRow& row : idle.causes) {
    if (left < 0) return false;  // stops early: the sum of a long list could overflow
    left -= row.total.ns;
  }
  return left == 0;
}

}  // namespace tacho::schema
