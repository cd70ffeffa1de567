#pragma once

#include <cstdint>
#include <string_view>

namespace tacho {

// The table that a slice is stored in. The comments give the categories in the file.
enum class SliceKind : uint8_t {
  kHostOp,         // cpu_op
  kAnnotation,     // user_annotation
  kGpuAnnotation,  // gpu_user_annotation
  kKernel,         // kernel, cuda_graph (a graph recorded as a whole)
  kMemcpy,         // gpu_memcpy
  kMemset,         // gpu_memset
  kHostCall,       // cuda_runtime, cuda_driver and similar: calls that launch, copy or wait
  kPythonFrame,    // python_function
  kOther,          // all others: overhead, cuda_sync, Trace, accelerators that tacho does not know
};

constexpr size_t kSliceKinds = static_cast<size_t>(SliceKind::kOther) + 1;

constexpr bool IsGpuWork(SliceKind kind) {
  return kind == SliceKind::kKernel || kind == SliceKind::kMemcpy || kind == SliceKind::kMemset;
}

// Whether the table for these slices has a column for the correlation id; for the external id.
constexpr bool HasCorrelation(SliceKind kind) {
  return IsGpuWork(kind) || kind == SliceKind::kHostCall;
}
constexpr bool HasExternalId(SliceKind kind) {
  return IsGpuWork(kind) || kind == SliceKind::kHostOp;
}

// What a category tells about an accelerator.
enum class DeviceSign : uint8_t {
  kNone,
  kPresent,        // an accelerator was used, so the engine did not run on the CPU
  kWorkByName,     // work of an accelerator; only the row's name tells which kind (device_rows.h)
  kUnread,         // work of an accelerator, in a form that tacho does not read
  kRangeProfiler,  // counters of ranges; the profiler that writes them does not record kernels
};

// What a category means.
struct CategoryMeaning {
  SliceKind kind = SliceKind::kOther;
  DeviceSign sign = DeviceSign::kNone;
  bool known = false;  // false: no known producer writes this category
};

// The current name of a category that may have an old one: "kernel" for "Kernel" (2021). Source:
// Kineto's ActivityType.h.
std::string_view CurrentCategoryName(std::string_view in_file);

// The meaning of a category, given by its current name. Covers Kineto for CUDA, ROCm and XPU,
// Intel's unitrace, and Kineto's plugins for MTIA, MLU, MUSA, HPU and others, which put the name of
// the accelerator before Kineto's words ("mlu_memcpy").
CategoryMeaning MeaningOfCategory(std::string_view category);

}  // namespace tacho
