#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"

namespace tacho {

SideFacts FactsOf(const std::vector<RunAnalysis>& runs);

// As RunChanges::on_both_sides.
std::vector<std::string> RunsOnBothSides(const std::vector<RunAnalysis>& base,
                                         const std::vector<RunAnalysis>& now);

// Fills `obstacles` and `remarks` from the facts, phases and kernels that are there.
//
// Other engines, GPUs, numbers of ranks and ways to record are obstacles, and so is work on both
// sides, unless both are the same runs; other versions and the share of steps without a counterpart
// are remarks. Another model shows in its kernels: less than a quarter of the time is in kernels
// that both have, or those that both have are called more often by one factor (layers).
void CheckComparable(RunChanges& changes);

}  // namespace tacho
