#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tacho::nsys {

// Kineto's name for a copy: "Memcpy HtoD (Pageable -> Device)". `kind`: a value of
// ENUM_CUDA_MEMCPY_OPER; `from` and `to`: values of ENUM_CUDA_MEM_KIND. "Uvm" copies move pages of
// unified memory.
std::string CopyName(int64_t kind, std::optional<int64_t> from, std::optional<int64_t> to);
// Kineto's name for a memset: "Memset (Device)".
std::string MemsetName(std::optional<int64_t> memory);
// The eventClass that marks a call in OSRT_API. Rows of other classes mark the start and the end of
// the recording.
inline constexpr int64_t kOsCall = 27;

// The word for a kind of memory. It points into a static array.
std::string_view MemoryKind(std::optional<int64_t> kind);

// A call's name and the version of its signature: "cudaLaunchKernel" and 7000 for
// "cudaLaunchKernel_v7000"; -1 if it has no version.
struct CallName {
  std::string_view name;
  int64_t version = -1;
};
CallName SplitCallName(std::string_view full);

}  // namespace tacho::nsys
