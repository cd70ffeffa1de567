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

// Whether the table of these slices has a column for the id.
constexpr bool HasCorrelation(SliceKind kind) {
  return IsGpuWork(kind) || kind == SliceKind::kHostCall;
}
constexpr bool HasExternalId(SliceKind kind) {
  return IsGpuWork(kind) || kind == SliceKind::kHostOp;
}

// What a category says about an accelerator.
enum class DeviceSign : uint8_t {
  kNone,
  kPresent,        // there is an accelerator: the trace is not of an engine on the CPU
  kWorkByName,     // work of an accelerator; only its name says which kind (device_rows.h)
  kUnread,         // work of an accelerator, in a form that tacho does not read
  kRangeProfiler,  // counters of ranges: the profiler that writes them records no kernels
};

// What a category means.
struct CategoryMeaning {
  SliceKind kind = SliceKind::kOther;
  DeviceSign sign = DeviceSign::kNone;
  bool known = false;  // false: no known producer writes this category
};

// Today's name of a category: "kernel" for "Kernel" (2021). Source: Kineto's ActivityType.h.
std::string_view CurrentCategoryName(std::string_view in_file);

// `category`: its name of today. One table covers Kineto for CUDA, ROCm and XPU; Kineto's plugins
// for MTIA, MLU, MUSA, HPU and others, which put the make in front of Kineto's words
// ("mlu_memcpy"); and Intel's unitrace.
CategoryMeaning MeaningOfCategory(std::string_view category);

}  // namespace tacho
