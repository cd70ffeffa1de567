#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"

namespace tacho {

// Compares two sides, each one or more runs of the same set-up. All traces need their step profile
// (AnalysisOptions::step_profile).
//
// Noise. Bounds come from a bootstrap over blocks of consecutive steps (2,000 draws, fixed seed).
// With a probability of 99.5 %, all parts and figures of a phase lie inside their bounds at once
// (max-t: Romano and Wolf, Econometrica 73 (2005)); likewise, all its kernels (kernel_changes.h).
// So two runs that do not differ show no difference with a probability of at least 95 %. With
// several runs on a side, the bounds are at least as wide as the differences between runs require
// (run_noise.h): 99 % for the step, 99.5 % for all its parts at once, 99.5 % for all its kernels at
// once. Bounds include the effect that different batch sizes within a group of batches may have.
//
// Deterministic. Cost: 2,000 passes over the groups and parts of all blocks; tens of milliseconds.
RunChanges CompareRuns(const std::vector<RunAnalysis>& base, const std::vector<RunAnalysis>& now);

}  // namespace tacho
