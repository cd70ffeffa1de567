#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tacho::nsys {

// "Memcpy HtoD (Pageable -> Device)", Kineto's name for a copy. `kind`: of ENUM_CUDA_MEMCPY_OPER;
// `from` and `to`: of ENUM_CUDA_MEM_KIND. "Uvm" copies move pages of unified memory.
std::string CopyName(int64_t kind, std::optional<int64_t> from, std::optional<int64_t> to);
// "Memset (Device)"
std::string MemsetName(std::optional<int64_t> memory);
// The eventClass of a call in OSRT_API. Other classes mark the beginning and the end of the
// recording.
inline constexpr int64_t kOsCall = 27;

// The word for a kind of memory, from a static array.
std::string_view MemoryKind(std::optional<int64_t> kind);

// The name of a call, and the version of its signature: "cudaLaunchKernel" and 7000 for
// "cudaLaunchKernel_v7000". -1: it has no version.
struct CallName {
  std::string_view name;
  int64_t version = -1;
};
CallName SplitCallName(std::string_view full);

}  // namespace tacho::nsys
