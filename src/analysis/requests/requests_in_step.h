#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/requests/request_analysis.h"

namespace tacho {

// What a step did for a request.
enum class StepRole : uint8_t {
  kReads,          // it read a part of its prompt
  kReadsAndMakes,  // it read the rest of its prompt and made its first token
  kMakes,          // it made a token of its answer
};
std::string_view StepRoleId(StepRole role);  // "reads", "reads-and-makes", "makes"

struct RequestInStep {
  size_t row = 0;  // index into RequestAnalysis::rows
  StepRole role = StepRole::kReads;
};

// The requests that are known to be in a step of a trace of the run: those whose prompt it reads,
// then the others; each in the order of the rows. Cost: O(rows).
std::vector<RequestInStep> RequestsInStep(const RequestAnalysis& requests, uint32_t trace,
                                          uint32_t step);

}  // namespace tacho
