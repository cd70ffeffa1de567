#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "simulate/engine/recording.h"
#include "simulate/engine/step_plan.h"

namespace tacho::simulate {

// One rank's part of a recorded step as its trace shows it: with ids, and only what lies in the
// profiler's window. Times are nanoseconds of the trace's clock (the machine's Unix time minus
// base).
struct TracedStep {
  const RecordedStep* step = nullptr;
  std::string name;  // name of the step's annotation; "" for none
  int64_t origin_ns = 0;
  RankPlan plan;  // its times count from origin_ns

  // For each slice of plan.host: its External id; 0 if the trace does not show it.
  std::vector<int64_t> external_ids;
  // For each call of plan.calls: its correlation, and whether it is in the trace.
  std::vector<int64_t> correlations;
  std::vector<bool> shows_call;
  // For each slice of plan.device: whether it is in the trace.
  std::vector<bool> shows_device;
  // For each slice of plan.device: whether it ran in the window but is missing because of
  // source.loss.
  std::vector<bool> lost_device;
  // For each slice of plan.host: whether it was open when the window closed. The slice then ends
  // there.
  std::vector<bool> unfinished;

  // `slice`: the index of the host slice in which a call or a piece of device work was issued, or
  // -1. Returns the External id of that slice if it is an operator, else 0.
  int64_t OperatorId(int32_t slice) const;
  // The name of a slice of plan.host in the trace.
  std::string NameOf(const HostSlice& slice) const;
};

// The ids of a graph and of its node as a profiler writes them; 0 if the work is in no graph. Each
// of several graphs has nodes of its own.
constexpr int64_t GraphIdOf(const DeviceSlice& slice) {
  return slice.graph_node == 0 ? 0 : 3 + slice.graph;
}
constexpr int64_t GraphNodeIdOf(const DeviceSlice& slice) {
  return slice.graph << 32 | slice.graph_node;
}

// Passes all steps of a recording to `visit`, in order, with SGLang's idle loops between them.
// Deterministic. Kineto's rules apply: a call or a piece of device work that is not completely
// inside the window is dropped; a host slice that is open at the window's end is cut there. What
// source.loss loses is dropped too. The times of device work are those of the device's clock.
void EachTracedStep(const TraceSource& source, const Recording& recording,
                    const std::function<void(const TracedStep&)>& visit);

}  // namespace tacho::simulate
