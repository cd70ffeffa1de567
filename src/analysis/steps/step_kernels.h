#pragma once

#include <map>
#include <utility>
#include <vector>

#include "analysis/index/name_index.h"
#include "analysis/steps/step_profile.h"

namespace tacho {

// Adds up the kernels that start within the steps of a profile, by batch group (StepBatch).
class StepKernels {
 public:
  // `steps`: of `trace`. Both must outlive this object.
  StepKernels(const Trace& trace, const std::vector<Step>& steps)
      : trace_(trace), steps_(steps), names_(trace) {}

  // Adds the kernels of one device. `rows`: rows of the profile on this device, in the order of
  // time. Cost: O(n).
  void Add(const DeviceWork& work, const DeviceItems& device,
           const std::vector<StepProfile::Row>& rows);
  // The sums so far, by batch. KernelUse::kernel is an index into `kernels`.rows.
  [[nodiscard]] std::vector<StepProfile::Batch> Batches(const DeviceWork& work,
                                                        const KernelTable& kernels) const;

 private:
  struct Sums {
    uint64_t calls = 0;
    DurationNs total;
    double squares = 0, place = 0;

    [[nodiscard]] StepProfile::KernelUse Of(uint32_t kernel, uint64_t steps) const;
  };
  const Trace& trace_;
  const std::vector<Step>& steps_;
  NameIndex names_;
  std::map<StepBatch, uint64_t> steps_of_;
  // By batch and device (index); each vector is indexed by a name's number in names_.
  std::map<std::pair<StepBatch, uint32_t>, std::vector<Sums>> sums_;
};

}  // namespace tacho
