#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "simulate/engine/change.h"
#include "simulate/engine/step_load.h"
#include "simulate/trace/kernel_catalog.h"

namespace tacho::simulate {

// A decoder in bfloat16, dense or with experts.
struct ModelShape {
  std::string_view name;  // its name in --model-size
  std::string_view checkpoint;
  int layers;
  int64_t hidden, intermediate;
  int64_t heads, kv_heads, head_dim;
  int64_t vocabulary;
  int64_t experts = 0, experts_per_token = 0;  // 0: dense; else `intermediate` is of one expert
};

// The limits of a kernel: achieved rates, not those of the data sheet.
struct Hardware {
  std::string_view name;         // its name in --hardware
  std::string_view device_name;  // as CUDA calls it
  double flops;                  // bfloat16, per second
  double memory_bytes_s;
  double link_bytes_s;  // of one device to the others
  int64_t memory_bytes;
  int compute_major, compute_minor;
  int multiprocessors;
};

std::span<const ModelShape> ModelShapes();
std::span<const Hardware> HardwarePresets();
Result<ModelShape> FindModelShape(std::string_view name);
Result<Hardware> FindHardware(std::string_view name);

// Noise in addition to that of each kernel and call.
struct Noise {
  double step = 0;    // from step to step: standard deviation of a factor on kernels and host
  double run = 0;     // from seed to seed: the same, for a factor on all steps
  double stalls = 0;  // share of the steps before which the host pauses, for 0.1 to 1 ms
};

struct CostModel {
  ModelShape model;
  Hardware hardware;
  int tensor_parallel = 1;  // experts are parallel over the same ranks
  double speed = 1;         // everything takes 1/speed of its time
  Noise noise = {};
  std::vector<Change> changes =
      {};  // to kernels and hosts only; changes to the whole run are already applied
  // Tokens are sent to the ranks of their experts and back (dispatch, combine). Without: each rank
  // computes what its experts make of all tokens, and an all-reduce adds that up.
  bool sends_tokens = false;
};

// The device's clock tick: durations of its work are multiples of it.
inline constexpr int64_t kTickNs = 32;

// One kernel of a step, without its start time.
struct KernelWork {
  KernelRole role;
  int64_t duration_ns;
  int64_t rows;    // of the batch, for its grid
  uint64_t place;  // its index in the step without changes
};

// The kernels of one step on one device, in order. `prepare` and `sample` are always launched one
// by one; `forward` are the layers, which a decode step replays as one graph.
struct StepKernels {
  std::vector<KernelWork> prepare, forward, sample;
};

// Deterministic for the same `random`. Matrix products are limited by arithmetic or by reading the
// weights, attention by arithmetic (prompts) and by reading the cache (generation), the rest by
// memory. Durations vary by 5 %; one in a hundred is up to twice as long; all are multiplied by
// `factor`. They are multiples of kTickNs. A change in `cost` affects no other kernel: each draws
// the same random numbers as without it.
StepKernels KernelsOfStep(const CostModel& cost, const StepLoad& load, Random random,
                          double factor = 1);

}  // namespace tacho::simulate
