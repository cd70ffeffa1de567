#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "analysis/device/idle.h"
#include "analysis/steps/steps.h"
#include "base/time.h"

namespace tacho {

struct PreparedTrace;

// What a stretch of an engine's time consists of, as its device sees it. The rest of the stretch is
// compute. If several kinds run at once, compute comes first, then communication, then copies.
struct StepCell {
  DurationNs comm, copy;  // while nothing computes
  std::array<DurationNs, static_cast<size_t>(IdleCause::kCount)> idle = {};  // by cause
};

// The engine's time, cut at the start and the end of the work of each step. The end is when the
// step's result is there: the last work that a step launches is the copy of the tokens to the host.
//
//   work of step 0 |=======|     |=========|  step 1
//                  ^ start ^ end
//                           |---|             the time before step 1
//
// Steps do not overlap: if the work of one begins before that of the step before has ended, the
// time up to that end belongs to the step before. All times are those of the trace.
struct StepCells {
  struct Step {
    Interval work;  // may be empty
    // False: its work is not known (Step::lost_work, or no work and no CPU engine), so `work` is as
    // long as the host was in the step, and its cells say nothing.
    bool known = false;
  };
  std::vector<Step> steps;  // by index into StepTable::steps
  // Two for each step: the time before its work, from the end of the step before it (empty for the
  // first step), and its work. Empty: it is unknown when the device was idle, or the trace has no
  // work, or that of several devices.
  std::vector<StepCell> cells;

  [[nodiscard]] bool HasCells() const { return !cells.empty(); }
  [[nodiscard]] const StepCell& Before(size_t step) const { return cells[2 * step]; }
  [[nodiscard]] const StepCell& Of(size_t step) const { return cells[2 * step + 1]; }
  // From the end of the step before; empty for the first step.
  [[nodiscard]] Interval TimeBefore(size_t step) const {
    const TimeNs end = steps[step].work.start;
    return {step == 0 ? end : steps[step - 1].work.end, end};
  }
};

// Makes the cells of one whole trace from what its analyses find anyway.
class StepCellsBuilder {
 public:
  // Cost: O(n) for n pieces of device work.
  explicit StepCellsBuilder(const PreparedTrace& prepared);

  // To be called for each stretch of AttributeIdle, in its order. Cost: O(log s) for s steps.
  void AddIdle(const IdleStretch& stretch);
  // `idle_known`: IdleTable::known.
  StepCells Finish(bool idle_known) &&;

 private:
  void FindSteps(const PreparedTrace& prepared);
  void AddWork(const PreparedTrace& prepared);
  // Calls `add` with each cell that `when` touches, and the length of the part in it.
  template <typename Add>
  void AddTo(Interval when, const Add& add);

  StepCells cells_;
  std::vector<TimeNs> cuts_;  // start and end of each step's work in turn: they never decrease
  Interval extent_;           // of the work of the device
  uint32_t device_ = 0;       // index into DeviceWork::devices
  bool one_device_ = false;
};

}  // namespace tacho
