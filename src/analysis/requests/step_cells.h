#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "analysis/device/idle.h"
#include "analysis/steps/steps.h"
#include "base/time.h"

namespace tacho {

struct PreparedTrace;

// What the device did in one stretch of an engine's time (a cell). The rest of the stretch is
// compute. Time in which several kinds of work run counts as compute if any of it is, else as
// communication.
struct StepCell {
  DurationNs comm, copy;  // while nothing computes
  std::array<DurationNs, static_cast<size_t>(IdleCause::kCount)> idle = {};  // by cause
};

// The engine's time, cut at the start and the end of each step's work. The end is when the step's
// result has reached the host, because the last work that a step launches is the copy of the tokens
// to the host.
//
//   work of step 0 |=======|     |=========|  step 1
//                  ^ start ^ end
//                           |---|             the time before step 1
//
// Steps do not overlap: if a step's work begins before that of the previous step has ended, the
// time up to that end belongs to the previous step. All times are on the clock of the trace.
struct StepCells {
  struct Step {
    Interval work;  // may be empty
    // False: the step's work is not known, because some was lost (Step::lost_work) or a GPU
    // engine's step has none. Then `work` is the time that the host spent in the step, and the
    // step's cells mean nothing.
    bool known = false;
  };
  std::vector<Step> steps;  // by index into StepTable::steps
  // Two for each step: one for the time from the end of the previous step to its work (of length 0
  // for the first step), and one for its work. There are no cells if it is unknown when the device
  // was idle, if the trace has no device work, or if it has work of several devices.
  std::vector<StepCell> cells;

  [[nodiscard]] bool HasCells() const { return !cells.empty(); }
  [[nodiscard]] const StepCell& Before(size_t step) const { return cells[2 * step]; }
  [[nodiscard]] const StepCell& Of(size_t step) const { return cells[2 * step + 1]; }
  // From the end of the previous step's work to the start of this step's; empty for the first step.
  [[nodiscard]] Interval TimeBefore(size_t step) const {
    const TimeNs end = steps[step].work.start;
    return {step == 0 ? end : steps[step - 1].work.end, end};
  }
};

// Makes the cells of a trace from the results of its other analyses.
class StepCellsBuilder {
 public:
  // Cost: O(n) for n pieces of device work.
  explicit StepCellsBuilder(const PreparedTrace& prepared);

  // Call it for each stretch that AttributeIdle reports, in its order. Cost: O(log s) for s steps.
  void AddIdle(const IdleStretch& stretch);
  // `idle_known`: IdleTable::known.
  StepCells Finish(bool idle_known) &&;

 private:
  void FindSteps(const PreparedTrace& prepared);
  void AddWork(const PreparedTrace& prepared);
  // Calls `add` with each cell that `when` overlaps, and the length of the overlap.
  template <typename Add>
  void AddTo(Interval when, const Add& add);

  StepCells cells_;
  std::vector<TimeNs> cuts_;  // the start and end of each step's work, in time order
  Interval extent_;           // from the first to the last work of the device
  uint32_t device_ = 0;       // index into DeviceWork::devices
  bool one_device_ = false;
};

}  // namespace tacho
