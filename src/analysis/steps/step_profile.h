#pragma once

#include <string>
#include <vector>

#include "analysis/device/device_work.h"
#include "analysis/device/idle.h"
#include "analysis/prepared_trace.h"
#include "analysis/steps/step_batch.h"

namespace tacho {

// What the time of each step consists of, as seen from the device. Comparisons start from it.
//
// A step lasts from the start of its first work on a device until the next step of its thread
// starts its first work on that device. (On a CPU engine: from the start of its annotation to the
// start of the next annotation.) If a pause follows, the step ends with its own last work, as in
// step_times.h. There is no row for the last step of a thread, for a step cut by the window, and
// for a step that lost work.
//
// Each nanosecond of a step belongs to one part: while something computes, to the category of the
// computing work that started first; otherwise to the category of the running communication;
// otherwise to "copy"; and if nothing runs, to "idle." plus the idle cause. So the parts add up to
// the length of the step, and work that is hidden behind other work does not count.
struct StepProfile {
  std::vector<std::string> parts;  // sorted; each has time in at least one row
  struct Row {
    uint32_t step = 0;    // index into StepTable::steps
    uint32_t device = 0;  // index into DeviceWork::devices
    Interval when;
    std::vector<DurationNs> ns;  // indexed by part
  };
  std::vector<Row> rows;  // sorted by (device, thread, start)

  struct KernelUse {
    uint32_t kernel = 0;  // index into KernelTable::rows
    uint64_t calls = 0;
    DurationNs total;
    DurationNs deviation;  // standard deviation of the kernel's time in a step; 0 for a single step
    // Where in a step it starts on average: 0 is the start of the step, 1 its end.
    double place = 0;
  };
  // The kernels that start within the steps of one batch group.
  struct Batch {
    StepBatch batch;
    uint64_t steps = 0;              // number of rows
    std::vector<KernelUse> kernels;  // sorted by KernelUse::kernel
  };
  std::vector<Batch> batches;  // sorted by `batch`
};

// `idle`: the stretches that AttributeIdle reports for the same trace and scope. `kernels`: from
// TabulateKernels for the same trace and scope. Cost: O(n).
StepProfile ProfileSteps(const PreparedTrace& prepared, const std::vector<IdleStretch>& idle,
                         const KernelTable& kernels, const Scope& scope = {}, size_t threads = 1);

}  // namespace tacho
