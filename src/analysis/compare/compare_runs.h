#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"

namespace tacho {

// Compares two sides, each one or more runs of the same set-up. Every trace has its step profile
// (AnalysisOptions::step_profile).
//
// Noise. Bounds come from a bootstrap over blocks of consecutive steps (2,000 draws, fixed seed):
// all parts and figures of a phase stay inside theirs together with 99.5 % (max-t: Romano and Wolf,
// Econometrica 73 (2005)), its kernels with 99.5 % too (kernel_changes.h). So two runs without a
// difference show none with at least 95 %. With several runs on a side, the bounds are at least
// those of how much runs differ (run_noise.h): of the step 99 %, of all its parts together 99.5 %,
// of all its kernels together 99.5 %. Bounds also hold what other sizes within a group of batches
// may account for.
//
// Deterministic. Cost: 2,000 times the blocks' groups and parts; tens of milliseconds.
RunChanges CompareRuns(const std::vector<RunAnalysis>& base, const std::vector<RunAnalysis>& now);

}  // namespace tacho
