#pragma once

#include <span>
#include <string>

#include "load/plan/plan.h"
#include "load/result/records.h"

namespace tacho {

// The facts of a plan as one line of JSON: arrivals, lengths, scenarios or dataset, seeds. This is
// `plan` in `tacho load --json` (docs/load.md).
std::string PlanFactsJson(const LoadPlan& plan);

// The facts of PlanFactsJson and the key "list", which has one line per planned request: the file
// plan.json of a run folder and of `tacho load --plan`. If the plan repeats, the list holds only
// requests that were sent (`records`, in the order of the plan).
std::string PlanJson(const LoadPlan& plan, std::span<const RequestRecord> records);

}  // namespace tacho
