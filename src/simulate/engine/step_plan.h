#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "simulate/engine/cost_model.h"
#include "simulate/engine/step_load.h"
#include "simulate/trace/kernel_catalog.h"

namespace tacho::simulate {

// The timing of one engine step: for each rank the operators and calls of the host, and the work of
// the device. Times are nanoseconds since the start of the step.

struct HostSlice {
  enum class Kind : uint8_t {
    kOp,     // cpu_op
    kStep,   // the engine's annotation of the step, whose name is made from the load
    kDraft,  // SGLang's annotation of the draft model's work, likewise
    kScope,  // a named range of the engine
  };
  Kind kind = Kind::kOp;
  const char* name = "";
  int64_t start_ns = 0, dur_ns = 0;
};

struct HostCall {
  const CallInfo* call = nullptr;
  int64_t start_ns = 0, dur_ns = 0;
  int32_t slice = -1;  // index of the innermost host slice around the call; -1: none
};

struct DeviceSlice {
  enum class Kind : uint8_t { kKernel, kCopy, kMemset };
  Kind kind = Kind::kKernel;
  KernelRole role = KernelRole::kCount;  // for a kernel
  const char* name = "";
  int stream = kComputeStream;
  int64_t start_ns = 0, dur_ns = 0;
  int32_t call = 0;        // index of the call that launched it
  int32_t slice = -1;      // index of the host slice around that call; -1 for a graph launch
  int32_t graph_node = 0;  // 0: the work is in no graph
  int64_t rows = 0;        // for a kernel: rows that its grid covers
  int64_t bytes = 0;       // for a copy or a memset
  int64_t graph = 0;       // number of its graph among CostModel::graph_sizes, from 1; 0: none
  bool draft = false;      // work of the draft model
};

struct RankPlan {
  std::vector<HostSlice> host;      // sorted by start
  std::vector<HostCall> calls;      // sorted by start
  std::vector<DeviceSlice> device;  // in the order of the launches
  int64_t end_ns = 0;               // when the rank is ready for the next step
};

struct StepPlan {
  std::vector<RankPlan> ranks;
  int64_t duration_ns = 0;  // time until the last rank is ready
};

// Plans one step on all ranks together: a collective ends on all of them at the same time.
// Deterministic. What a change in `cost` does not affect stays the same to the nanosecond. A decode
// step of at most 512 requests, or of the largest of CostModel::graph_sizes, replays one graph;
// other steps launch kernel by kernel. A load without requests gives a step with an empty batch.
// Which of CostModel::graph_sizes a step replays, from 1; 0 if these are empty. nullopt: it replays
// no graph.
std::optional<int64_t> GraphOfStep(const CostModel& cost, const StepLoad& load);

StepPlan PlanStep(SimulatedEngine engine, const CostModel& cost, const StepLoad& load,
                  uint64_t seed, uint64_t step);

}  // namespace tacho::simulate
