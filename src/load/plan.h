#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace tacho {

// One request, decided before anything is sent.
struct PlannedRequest {
  uint64_t index = 0;
  std::string scenario;
  int64_t at_ns = 0;  // from the start of the load; with a fixed concurrency: not before
  int64_t prompt_tokens = 0;
  int64_t output_tokens = 0;
  uint64_t seed = 0;  // of the prompt's token ids
};

struct MixPart {
  std::string scenario;  // a row of load/tables/*.table
  double weight = 0;
};

struct PlanOptions {
  std::vector<MixPart> mix;              // empty: chat 60, rag 30, code 10
  std::optional<int64_t> prompt_tokens;  // fixed lengths in place of a scenario
  std::optional<int64_t> output_tokens;
  std::optional<int64_t> most_total_tokens;  // the model's length: longer ones are cut, and counted
  std::optional<uint64_t> requests;          // at most
  std::optional<int64_t> duration_ns;        // no request is sent later than this
  std::optional<double> rate;  // requests a second, Poisson; absent: fixed concurrency
  uint64_t concurrency = 8;    // at most so many at once
  uint64_t seed = 0;
};

// What will be sent, in order of time. With a duration and no number of requests, as many are
// planned as could possibly be needed; the rest stay unsent.
struct LoadPlan {
  PlanOptions options;
  std::vector<PlannedRequest> requests;
  uint64_t cut_to_model = 0;  // requests shortened to most_total_tokens
};
Result<LoadPlan> MakePlan(const PlanOptions& options);

}  // namespace tacho
