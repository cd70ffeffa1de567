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

// The dimensions of a decoder in bfloat16, dense or with experts.
struct ModelShape {
  std::string_view name;  // its name in --model-size
  std::string_view checkpoint;
  int layers;
  int64_t hidden, intermediate;
  int64_t heads, kv_heads, head_dim;
  int64_t vocabulary;
  // 0: dense. Otherwise `intermediate` is the size of one expert.
  int64_t experts = 0, experts_per_token = 0;
  int64_t shared = 0;  // the size of the shared expert, which runs on kSideStream; 0: none
};

// The rates that limit a kernel: those that kernels achieve, not those of the data sheet.
struct Hardware {
  std::string_view name;         // its name in --hardware
  std::string_view device_name;  // the device's name in CUDA
  double flops;                  // bfloat16 operations per second
  double memory_bytes_s;
  double link_bytes_s;  // between one device and the others
  int64_t memory_bytes;
  int compute_major, compute_minor;
  int multiprocessors;
};

std::span<const ModelShape> ModelShapes();
std::span<const Hardware> HardwarePresets();
Result<ModelShape> FindModelShape(std::string_view name);
Result<Hardware> FindHardware(std::string_view name);

// Noise on top of the noise of each kernel and call.
struct Noise {
  double step = 0;    // per step: standard deviation of a factor on kernels and host
  double run = 0;     // per seed: standard deviation of a factor on all steps
  double stalls = 0;  // share of the steps before which the host pauses for 0.1 to 1 ms
};

struct CostModel {
  ModelShape model;
  Hardware hardware;
  int tensor_parallel = 1;  // experts are spread over the same ranks
  double speed = 1;         // everything takes 1/speed of its time
  Noise noise = {};
  // Only changes to kernels and hosts; those to the whole run are already applied.
  std::vector<Change> changes = {};
  // True: tokens are sent to the ranks of their experts, and the results back (dispatch, combine).
  // False: each rank has all tokens and applies only its own experts; an all-reduce then adds up
  // the results.
  bool sends_tokens = false;
  // The batches for which the engine captured graphs, in ascending order; a decode step replays the
  // smallest one that is large enough, and computes its whole batch. Empty: for every batch.
  std::vector<int64_t> graph_sizes = {};
};

// The tick of the device's clock: durations of device work are multiples of it.
inline constexpr int64_t kTickNs = 32;

// One kernel of a step; its start time is not known yet.
struct KernelWork {
  KernelRole role;
  int64_t duration_ns;
  int64_t rows;    // rows of the batch, which determine the kernel's grid
  uint64_t place;  // the kernel's index in the step before any change
};

// The kernels of one step on one device, in order. `prepare` and `sample` are always launched one
// by one; `forward` holds the layers, which a decode step replays as one graph. `draft`: a dense
// layer with a head, once for each token that the draft model proposes.
struct StepKernels {
  std::vector<KernelWork> prepare, forward, sample, draft;
};

// `batch`: for how many tokens `forward` is computed; at least those of `load`. Attention reads
// only the cache of `load`. Deterministic for the same `random`. Matrix products are limited by
// arithmetic or by reading the weights, attention by arithmetic (prompts) or by reading the cache
// (generation), all else by memory. Durations vary by 5 %, and one in a hundred is up to twice as
// long. `factor` multiplies all of them, and they are rounded to kTickNs. A change in `cost`
// affects only the kernels that it concerns, because the others draw the same random numbers as
// without the change.
StepKernels KernelsOfStep(const CostModel& cost, const StepLoad& load, int64_t batch, Random random,
                          double factor = 1);

}  // namespace tacho::simulate
