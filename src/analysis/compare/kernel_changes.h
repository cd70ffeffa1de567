#pragma once

#include <map>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/run_changes.h"
#include "analysis/compare/step_differences.h"

namespace tacho {

// The kernels of the steps in groups of batches that both sides have.
//
// A kernel's time in a step differs beyond noise if the difference is larger than the bound of all
// kernels together (Bonferroni, 0.5 %) by its deviation over the steps (Welch's t over the groups
// of batches), and what other sizes within a group account for, if its time goes with the size.
// `spread` widens the variance: how much more the time of steps varies than if all were
// independent. With several runs a side it is at least the bound of all kernels together by how
// much runs differ (run_noise.h).
std::vector<KernelChange> CompareKernels(const std::vector<RunAnalysis>& base,
                                         const std::vector<RunAnalysis>& now,
                                         const SharedBatches& batches, double spread);

// The same of whole recordings, by total, without bounds.
std::vector<KernelChange> CompareKernelTotals(const std::vector<RunAnalysis>& base,
                                              const std::vector<RunAnalysis>& now);

// Pairs of kernels that are gone and new: of one category, called as often (within 2 %), at about
// the same place in the step (within a tenth of it), closest places first. Of the 500 that differ
// most on each side.
std::vector<RenamedKernel> ProposeRenamed(const std::vector<KernelChange>& kernels);

}  // namespace tacho
