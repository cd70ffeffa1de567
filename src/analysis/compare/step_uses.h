#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "analysis/compare/run_changes.h"
#include "analysis/compare/step_differences.h"

namespace tacho {

// A use is what takes time in the steps of a phase: a kernel, or a block of the model. Uses are
// compared as averages per step at equal batch.

// One use in the steps of one group of batches on one side.
struct UseInGroup {
  double calls = 0, total = 0, squares = 0, places = 0;
  double steps = 0;  // of the devices that have the use in any group
  // The number of windows with such steps: one for each of these devices in each run.
  double windows = 0;
};
// By run: a sum over the steps of one group.
using OfRuns = std::vector<double>;
struct StepUse {
  std::string category;
  std::array<bool, 2> runs_on{};  // by side: some device has it in these groups
  std::map<StepBatch, std::array<UseInGroup, 2>> groups;
  std::map<StepBatch, std::array<OfRuns, 2>> totals, steps_of_runs;
};
struct StepUses {
  std::map<std::string, StepUse> uses;  // by name
  // The steps of all devices, whether or not they have a use.
  std::map<StepBatch, std::array<OfRuns, 2>> steps_of_runs;
  std::array<size_t, 2> runs{};
};

// Compares the uses, with the bounds that kernel_changes.h describes. They hold for all uses at
// once. Returns one change for each use, by name; `kind` is not set.
std::vector<KernelChange> CompareUses(const StepUses& gathered, const SharedBatches& batches,
                                      double spread);

}  // namespace tacho
