#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tacho::simulate {

// What a kernel does in a step. Its name and its launch depend on the engine.
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
  kAllReduce,       // within a node, small messages
  kAllReduceLarge,  // NCCL
  kGateUp,
  kActivation,
  kDown,
  kGather,
  kLmHead,
  kAllGather,
  kArgmax,
  // Only in models with experts.
  kRouter,
  kTopK,
  kDispatch,  // of tokens to the ranks of their experts
  kExpertGateUp,
  kExpertDown,
  kCombine,  // of what the experts made of them
  // Only in runs with a change (engine/change.h).
  kRopeAndCacheWrite,
  kAllReduceAndNorm,
  kAttentionTriton,
  kGateUpCutlass,
  kCount,
};

enum class SimulatedEngine : uint8_t { kVllm, kSglang };
std::string_view NameOf(SimulatedEngine kind);  // "vllm", "sglang"

// A kernel as CUPTI would describe it. Names and launch shapes are those of real H100 traces.
struct KernelInfo {
  KernelRole role;
  const char* name;
  const char* op;      // the host operator that launches it outside of a graph
  const char* launch;  // the runtime or driver call
  int registers;
  int shared_memory;
  int grid_fixed;  // grid x = grid_fixed + grid_per_row * rows
  int grid_per_row;
  int grid_y;
  int block;
  int occupancy;
};
const KernelInfo& KernelOf(SimulatedEngine engine, KernelRole role);
// The blocks of the kernel in x, for a batch of `rows` rows.
constexpr int64_t GridOf(const KernelInfo& kernel, int64_t rows) {
  const int64_t blocks = kernel.grid_fixed + kernel.grid_per_row * rows;
  return blocks < 1 ? 1 : blocks;
}
bool IsCollective(KernelRole role);
bool IsGroupedProduct(KernelRole role);  // of experts

// A host call and its CUPTI id.
struct CallInfo {
  const char* name;
  const char* category;  // "cuda_runtime" or "cuda_driver"
  int cbid;
  bool starts_flow;  // Kineto draws the flow of a launching call as a start, of others as an end
};
const CallInfo& CallOf(std::string_view name);

inline constexpr int kComputeStream = 7;
inline constexpr int kCopyStream = 20;

}  // namespace tacho::simulate
