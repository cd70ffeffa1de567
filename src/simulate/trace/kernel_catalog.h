#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tacho::simulate {

// What a kernel does in a step. The engine determines its name and its launch.
enum class KernelRole : uint8_t {
  kSlotMapping,
  kAttentionMetadata,
  kEmbedding,
  kNorm,
  kQkv,
  kRope,
  kCacheWrite,
  kAttention,
  kOutProjection,
  kAllReduce,       // for small messages within a node
  kAllReduceLarge,  // by NCCL
  kGateUp,
  kActivation,
  kDown,
  kGather,
  kLmHead,
  kAllGather,
  kArgmax,
  // These occur only in models with experts.
  kRouter,
  kTopK,
  kDispatch,  // sends tokens to the ranks of their experts
  kExpertGateUp,
  kExpertDown,
  kCombine,  // sends the experts' results back
  // The shared expert, which all tokens go through.
  kSharedGateUp,
  kSharedActivation,
  kSharedDown,
  // These occur only in runs with a change (engine/change.h).
  kRopeAndCacheWrite,
  kAllReduceAndNorm,
  kAttentionTriton,
  kGateUpCutlass,
  kCount,
};

enum class SimulatedEngine : uint8_t { kVllm, kSglang };
std::string_view NameOf(SimulatedEngine kind);  // "vllm", "sglang"

// A kernel's properties as CUPTI reports them. Names and launch shapes are those of real H100
// traces.
struct KernelInfo {
  KernelRole role;
  const char* name;
  const char* op;      // the host operator that launches it if it is in no graph
  const char* launch;  // the runtime or driver call that launches it
  int registers;
  int shared_memory;
  int grid_fixed;  // grid x = grid_fixed + grid_per_row * rows
  int grid_per_row;
  int grid_y;
  int block;
  int occupancy;
};
const KernelInfo& KernelOf(SimulatedEngine engine, KernelRole role);
// How many blocks in x the kernel has for a batch of `rows` rows.
constexpr int64_t GridOf(const KernelInfo& kernel, int64_t rows) {
  const int64_t blocks = kernel.grid_fixed + kernel.grid_per_row * rows;
  return blocks < 1 ? 1 : blocks;
}
bool IsCollective(KernelRole role);
bool IsOfSharedExpert(KernelRole role);
bool IsGroupedProduct(KernelRole role);  // a matrix product over several experts

// A host call and its CUPTI id.
struct CallInfo {
  const char* name;
  const char* category;  // "cuda_runtime" or "cuda_driver"
  int cbid;
  // Whether Kineto writes the call's flow event as the start of a flow. For calls that launch
  // nothing it writes the end of one.
  bool starts_flow;
};
const CallInfo& CallOf(std::string_view name);

inline constexpr int kComputeStream = 7;
inline constexpr int kCopyStream = 20;
inline constexpr int kSideStream = 24;  // runs beside the compute stream

}  // namespace tacho::simulate
