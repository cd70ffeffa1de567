#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"

namespace tacho {

// The facts of one side. `ranks`: the ranks whose figures are compared; without it, all ranks of
// `runs`. The list of traces and the numbers of ranks and devices always cover all ranks.
SideFacts FactsOf(const std::vector<RunAnalysis>& runs, const SideRanks& ranks);
SideFacts FactsOf(const std::vector<RunAnalysis>& runs);

// The value of RunChanges::on_both_sides.
std::vector<std::string> RunsOnBothSides(const std::vector<RunAnalysis>& base,
                                         const std::vector<RunAnalysis>& now);

// Fills `obstacles` and `remarks` of `changes` from its facts, phases and kernels.
//
// Obstacles are: different engines, GPUs, numbers of ranks and recording options; and the same work
// on both sides, unless both sides are the same runs. Different versions are a remark. A different
// model is an obstacle that shows in the kernels: less than a quarter of the time is in kernels
// that both sides have, or most of these are called more or less often by one factor (the number of
// layers).
void CheckComparable(RunChanges& changes);

}  // namespace tacho
