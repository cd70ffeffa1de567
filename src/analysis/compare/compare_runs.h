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
// (max-t: Romano and Wolf, Econometrica 73 (2005)). The same holds for all kernels of a phase
// (kernel_changes.h). There are five phases, so two runs that do not differ show no difference with
// a probability of at least 95 %. With several runs on a side, the bounds are at least as wide as
// those from the differences between runs (run_noise.h). The probabilities of those are 99 % for
// each figure of the step (its time, mean, batch mix, p50 and p99), 99.5 % for all its parts at
// once, and 99.5 % for all its kernels at once. Bounds include the effect that different batch
// sizes within a group of batches may have.
//
// `across`: compares other engines or GPUs, too (RunChanges::across).
//
// Deterministic. Cost: 2,000 passes over the groups and parts of all blocks; tens of milliseconds.
RunChanges CompareRuns(const std::vector<RunAnalysis>& base, const std::vector<RunAnalysis>& now,
                       bool across = false);

}  // namespace tacho
