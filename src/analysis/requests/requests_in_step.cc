#include "analysis/requests/requests_in_step.h"

#include <algorithm>

namespace tacho {

std::string_view StepRoleId(StepRole role) {
  switch (role) {
    case StepRole::kReads:
      return "reads";
    case StepRole::kReadsAndMakes:
      return "reads-and-makes";
    case StepRole::kMakes:
      break;
  }
  return "makes";
}

std::vector<RequestInStep> RequestsInStep(const RequestAnalysis& requests, uint32_t trace,
                                          uint32_t step, const StepLabel& label) {
  std::vector<RequestInStep> in_it;
  for (size_t i = 0; i < requests.rows.size(); ++i) {
    const RequestRow& row = requests.rows[i];
    if (row.trace != trace || !row.steps_known || step < row.first_step || step > row.last_step)
      continue;
    if (step < row.token_step && !row.reads_known) continue;
    if (step > row.token_step && label.generation_requests == 0) continue;
    in_it.push_back({i, step < row.token_step    ? StepRole::kReads
                        : step == row.token_step ? StepRole::kReadsAndMakes
                                                 : StepRole::kMakes});
  }
  std::stable_partition(in_it.begin(), in_it.end(),
                        [](const RequestInStep& one) { return one.role != StepRole::kMakes; });
  return in_it;
}

}  // namespace tacho
