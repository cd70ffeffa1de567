#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/requests/request_analysis.h"

namespace tacho {

// What a step did for a request.
enum class StepRole : uint8_t {
  kReads,          // read a part of the prompt
  kReadsAndMakes,  // read the rest of the prompt and made the first token
  kMakes,          // made a token of the answer
};
std::string_view StepRoleId(StepRole role);  // "reads", "reads-and-makes", "makes"

struct RequestInStep {
  size_t row = 0;  // index into RequestAnalysis::rows
  StepRole role = StepRole::kReads;
};

// The requests known to be in step `step` of trace `trace` of the run: first those whose prompt the
// step reads, then the others, both in the order of RequestAnalysis::rows. `label`: the label of
// this step. If the step generates nothing, requests that already have their first token are not in
// it. Cost: O(rows).
std::vector<RequestInStep> RequestsInStep(const RequestAnalysis& requests, uint32_t trace,
                                          uint32_t step, const StepLabel& label);

}  // namespace tacho
