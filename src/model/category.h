#pragma once

#include <cstdint>
#include <string_view>

namespace tacho {

// The table that a slice goes to.
enum class SliceKind : uint8_t {
  kHostOp,         // cpu_op
  kAnnotation,     // user_annotation
  kGpuAnnotation,  // gpu_user_annotation
  kKernel,         // kernel, cuda_graph (a graph recorded as a whole)
  kMemcpy,         // gpu_memcpy
  kMemset,         // gpu_memset
  kHostCall,       // cuda_runtime, cuda_driver and their kin: calls that launch, copy or wait
  kPythonFrame,    // python_function
  kOther,          // everything else: overhead, cuda_sync, Trace, accelerators unknown to us
};

constexpr size_t kSliceKinds = static_cast<size_t>(SliceKind::kOther) + 1;

constexpr bool IsGpuWork(SliceKind kind) {
  return kind == SliceKind::kKernel || kind == SliceKind::kMemcpy || kind == SliceKind::kMemset;
}

// Which slices have these ids as columns of their table.
constexpr bool HasCorrelation(SliceKind kind) {
  return IsGpuWork(kind) || kind == SliceKind::kHostCall;
}
constexpr bool HasExternalId(SliceKind kind) {
  return IsGpuWork(kind) || kind == SliceKind::kHostOp;
}

// Today's name of a category: "kernel" for "Kernel" (2021). Source: Kineto's ActivityType.h.
std::string_view CurrentCategoryName(std::string_view in_file);

// The table for slices of a category, by its name of today.
SliceKind KindOfCategory(std::string_view category);

}  // namespace tacho
