#pragma once

#include <array>
#include <vector>

#include "analysis/compare/compared_ranks.h"
#include "analysis/compare/run_changes.h"
#include "analysis/compare/step_differences.h"

namespace tacho {

// Compares the kernels of steps, in the groups of batches that both sides have. A kernel's time and
// calls are averages per step over the devices that run it in these groups. So a kernel that only
// some ranks run does not change if other ranks hold more or fewer steps.
//
// A kernel's time differs beyond noise if the difference exceeds the sum of two terms. The first is
// a bound that holds for all kernels at once (Bonferroni, 0.5 %), from the deviation of the time
// over the steps (Welch's t over the groups of batches). For this bound, the variance is multiplied
// by `spread`: the variance of the step time, divided by what it would be if all steps were
// independent. The second term is the effect that different batch sizes within a group have if the
// time grows with the size. With several runs on a side, the sum is at least the bound that the
// differences between runs give for all kernels at once (run_noise.h).
//
// A kernel is taken to run in only some steps of a phase if its calls are not a whole multiple of
// the steps of a group, or if a group has only one step in a window (the recording of one device in
// one run) and the sides differ in calls there. Such a kernel runs in the same steps on all ranks,
// so all ranks count as one for its variance, which is taken from both sides together. Its bound
// also allows for one more or one less of these steps in each window.
std::vector<KernelChange> CompareKernels(const ComparedRanks& ranks, const SharedBatches& batches,
                                         double spread);

// Compares the total times of kernels in whole recordings, without bounds. `devices`: the numbers
// of devices of base and new; figures are averages over devices.
std::vector<KernelChange> CompareKernelTotals(const ComparedRanks& ranks,
                                              const std::array<double, 2>& devices);

// Pairs a kernel that is gone with a new one if both have the same category, are called equally
// often (within 2 %, or one call in a window if they run in only some steps), and run at about the
// same place in the step (within a tenth of it). The pair with the closest places is first. Only
// the 500 gone and the 500 new kernels that differ most are considered.
std::vector<RenamedKernel> ProposeRenamed(const std::vector<KernelChange>& kernels);

}  // namespace tacho
