#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"

namespace tacho {

// The facts of one side. `ranks`: those whose figures are compared; if not given, all ranks of
// `runs`. What describes the side (its traces, and the numbers of ranks and devices) covers all
// ranks.
SideFacts FactsOf(const std::vector<RunAnalysis>& runs, const SideRanks& ranks);
SideFacts FactsOf(const std::vector<RunAnalysis>& runs);

// The value of RunChanges::on_both_sides.
std::vector<std::string> RunsOnBothSides(const std::vector<RunAnalysis>& base,
                                         const std::vector<RunAnalysis>& now);

// Fills `obstacles` and `remarks` from the facts, phases and kernels that are there.
//
// Different engines, GPUs, numbers of ranks and ways to record are obstacles. So is work that is on
// both sides, unless both are the same runs. Different versions, and the share of steps without a
// counterpart, are remarks. A different model shows in its kernels: less than a quarter of the time
// is in kernels that both sides have, or all these kernels are called more often by the same factor
// (the number of layers).
void CheckComparable(RunChanges& changes);

}  // namespace tacho
