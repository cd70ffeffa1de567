#pragma once

#include <span>
#include <string>

#include "load/plan/plan.h"
#include "load/result/records.h"

namespace tacho {

// The facts of a plan on one line of JSON: arrivals, lengths, scenarios or dataset, seeds. The
// `plan` of `tacho load --json` (docs/load.md).
std::string PlanFactsJson(const LoadPlan& plan);

// The same with the key "list", which has one line for each planned request: the file plan.json of
// a run folder and of `tacho load --plan`. A plan that repeats lists only the requests that were
// sent (`records`, in the order of the plan).
std::string PlanJson(const LoadPlan& plan, std::span<const RequestRecord> records);

}  // namespace tacho
