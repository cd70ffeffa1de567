#pragma once

#include <string>
#include <vector>

#include "analysis/device/device_work.h"
#include "analysis/device/idle.h"
#include "analysis/prepared_trace.h"
#include "analysis/steps/step_batch.h"

namespace tacho {

// What the time of each step is made of, as the device sees it. The input of comparisons.
//
// A step lasts from the start of its first work on a device to the start of the first work there of
// the next step of the same thread (on a CPU engine: from start to start of the annotations). It
// ends with its own last work if a pause follows, as in step_times.h. The last step of a thread,
// and one that a window cuts or that lost work, has no row.
//
// Each nanosecond of a step belongs to one part. While something computes, that is the category of
// the computing work that started first; else the category of communication, then "copy"; else
// "idle." and the cause. So the parts of a step add up to its length, and what runs hidden beside
// others has no part.
struct StepProfile {
  std::vector<std::string> parts;  // sorted; each has time in some row
  struct Row {
    uint32_t step = 0;    // index into StepTable::steps
    uint32_t device = 0;  // index into DeviceWork::devices
    Interval when;
    std::vector<DurationNs> ns;  // by part
  };
  std::vector<Row> rows;  // by (device, thread, start)

  struct KernelUse {
    uint32_t kernel = 0;  // index into KernelTable::rows
    uint64_t calls = 0;
    DurationNs total;
    DurationNs deviation;  // standard deviation of its time in a step; 0 for a single step
    double place = 0;      // where in a step it starts, on average: 0 is the start, 1 the end
  };
  // The kernels that start within the steps of a batch.
  struct Batch {
    StepBatch batch;
    uint64_t steps = 0;              // rows
    std::vector<KernelUse> kernels;  // by number
  };
  std::vector<Batch> batches;  // by batch
};

// `idle`: AttributeIdle's stretches of the same trace and scope; `kernels`: TabulateKernels's.
// Cost: O(n).
StepProfile ProfileSteps(const PreparedTrace& prepared, const std::vector<IdleStretch>& idle,
                         const KernelTable& kernels, const Scope& scope = {}, size_t threads = 1);

}  // namespace tacho
