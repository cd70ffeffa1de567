#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"

namespace tacho {

// `ranks`: those whose figures are compared; all of `runs` if not given. What the side is (its
// traces, and the numbers of ranks and devices) is of all ranks.
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
// is in kernels that both sides have, or these kernels are called more often by one factor (number
// of layers).
void CheckComparable(RunChanges& changes);

}  // namespace tacho
