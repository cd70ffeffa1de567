#pragma once

#include <array>
#include <vector>

#include "analysis/compare/compared_ranks.h"
#include "analysis/compare/run_changes.h"
#include "analysis/compare/step_differences.h"

namespace tacho {

// Compares the kernels of steps, in the groups of batches that both sides have. A kernel's time and
// calls are those in one step of a device that runs it in these groups, on average. So a kernel
// that only some ranks run does not change with the number of steps that other ranks hold.
//
// A kernel's time in a step differs beyond noise if the difference exceeds the sum of two terms:
// the bound for all kernels at once (Bonferroni, 0.5 %), from the time's deviation over the steps
// (Welch's t over the groups of batches); and what different sizes within a group account for, if
// the time grows with the size. `spread` widens the variance: how much more the time of steps
// varies than if all were independent. With several runs a side, the bound is at least the one for
// all kernels at once that the differences between runs give (run_noise.h).
//
// A kernel may run in only some steps of a phase: its calls are not a whole multiple of the steps
// of a group, or a group has one step in a window and the sides differ in calls there. It does so
// in the same steps on all ranks. So the ranks count as one for its variance, which is that of both
// sides together. The bound also allows for one more or one less of these steps in each window (a
// device of one run).
std::vector<KernelChange> CompareKernels(const ComparedRanks& ranks, const SharedBatches& batches,
                                         double spread);

// Compares the kernels of whole recordings, by total time, without bounds. `devices`: of base and
// new; figures are averages over them.
std::vector<KernelChange> CompareKernelTotals(const ComparedRanks& ranks,
                                              const std::array<double, 2>& devices);

// Pairs of a kernel that is gone and a new one: of the same category, called equally often (within
// 2 %, or one call in a window if they run in only some steps), at about the same place in the step
// (within a tenth of it); closest places first. Only the 500 kernels that differ most on each side
// are considered.
std::vector<RenamedKernel> ProposeRenamed(const std::vector<KernelChange>& kernels);

}  // namespace tacho
