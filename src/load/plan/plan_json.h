#pragma once

#include <span>
#include <string>

#include "load/plan/plan.h"
#include "load/result/records.h"

namespace tacho {

// What a plan was made of, on one line: arrivals, lengths, scenarios or dataset, seeds. The `plan`
// of `tacho load --json` (docs/load.md).
std::string PlanFactsJson(const LoadPlan& plan);

// The same with `list`, one line for each request: what was decided of it in advance. The file
// plan.json of a run folder and of `tacho load --plan`. Of a plan that goes round only what was
// sent is in it (`records`, in the order of the plan): the rest is as long as anybody could need.
std::string PlanJson(const LoadPlan& plan, std::span<const RequestRecord> records);

}  // namespace tacho
