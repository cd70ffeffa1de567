#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "simulate/engine/cost_model.h"
#include "simulate/engine/step_load.h"
#include "simulate/trace/kernel_catalog.h"

namespace tacho::simulate {

// The timing of one engine step: the operators and calls of each rank's host, and the work of its
// device. Times are nanoseconds from the beginning of the step.

struct HostSlice {
  enum class Kind : uint8_t {
    kOp,     // cpu_op
    kStep,   // the engine's annotation of the step; its name is made from the load
    kScope,  // a named range of the engine
  };
  Kind kind = Kind::kOp;
  const char* name = "";
  int64_t start_ns = 0, dur_ns = 0;
};

struct HostCall {
  const CallInfo* call = nullptr;
  int64_t start_ns = 0, dur_ns = 0;
  int32_t slice = -1;  // the innermost host slice around it, of any kind; -1: none
};

struct DeviceSlice {
  enum class Kind : uint8_t { kKernel, kCopy, kMemset };
  Kind kind = Kind::kKernel;
  KernelRole role = KernelRole::kCount;  // of a kernel
  const char* name = "";
  int stream = kComputeStream;
  int64_t start_ns = 0, dur_ns = 0;
  int32_t call = 0;        // the call that launched it
  int32_t slice = -1;      // the operator of that call; -1 under a graph launch
  int32_t graph_node = 0;  // 0 outside of graphs
  int64_t rows = 0;        // of a kernel's grid
  int64_t bytes = 0;       // of a copy or a memset
};

struct RankPlan {
  std::vector<HostSlice> host;      // by start
  std::vector<HostCall> calls;      // by start
  std::vector<DeviceSlice> device;  // in the order of their launches
  int64_t end_ns = 0;               // the rank is ready for the next step
};

struct StepPlan {
  std::vector<RankPlan> ranks;
  int64_t duration_ns = 0;  // until the last rank is ready
};

// Plans one step on all ranks together: a collective ends on all at the same time. Deterministic. A
// change in `cost` leaves everything that it does not affect the same to the nanosecond. A decode
// step of at most 512 requests replays one graph; other steps launch kernel by kernel. A step
// without requests is a step with an empty batch.
StepPlan PlanStep(SimulatedEngine engine, const CostModel& cost, const StepLoad& load,
                  uint64_t seed, uint64_t step);

}  // namespace tacho::simulate
