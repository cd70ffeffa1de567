#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulate/engine/recording.h"
#include "simulate/engine/step_plan.h"

namespace tacho::simulate {

// One rank's part of a recorded step as in its trace: what lies in the profiler's window, with ids.
// Times are nanoseconds on the trace's clock (Unix time of the machine minus base).
struct TracedStep {
  const RecordedStep* step = nullptr;
  std::string name;  // of the step's annotation, "" for none
  int64_t origin_ns = 0;
  RankPlan plan;  // times from origin_ns on

  // For each of plan.host: its External id, 0 for a slice that the trace does not show.
  std::vector<int64_t> external_ids;
  // For each of plan.calls: its correlation, and whether it is in the trace.
  std::vector<int64_t> correlations;
  std::vector<bool> shows_call;
  // For each of plan.device: whether it is in the trace.
  std::vector<bool> shows_device;
  // For each of plan.device: whether it ran in the window but is missing, because of source.loss.
  std::vector<bool> lost_device;
  // The indices in plan.host of slices that were open when the window closed; their durations are
  // cut.
  std::vector<bool> unfinished;

  // External id of the operator around a call or of a piece of device work; 0: none.
  int64_t OperatorId(int32_t slice) const;
};

// Passes all steps of a recording to `visit`, in order, with SGLang's idle loops between them.
// Deterministic. By Kineto's rules: a call or a piece of device work that is not wholly inside the
// window is dropped; a host slice that is open at its end is cut there. What source.loss loses is
// dropped too, and the times of device work are those of its clock.
void EachTracedStep(const TraceSource& source, const Recording& recording,
                    const std::function<void(const TracedStep&)>& visit);

}  // namespace tacho::simulate
