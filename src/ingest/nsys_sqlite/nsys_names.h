#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tacho::nsys {

// "Memcpy HtoD (Pageable -> Device)", of ENUM_CUDA_MEMCPY_OPER and two of ENUM_CUDA_MEM_KIND, in
// the words of Kineto; "Uvm" moves pages of unified memory.
std::string CopyName(int64_t kind, std::optional<int64_t> from, std::optional<int64_t> to);
// "Memset (Device)"
std::string MemsetName(std::optional<int64_t> memory);
// The eventClass of a call in OSRT_API. Others mark the beginning and the end of the recording.
inline constexpr int64_t kOsCall = 27;

// The word for a kind of memory, of a static array.
std::string_view MemoryKind(std::optional<int64_t> kind);

// A call's name without the version of its signature: "cudaLaunchKernel" and 7000 of
// "cudaLaunchKernel_v7000". -1: it has none.
struct CallName {
  std::string_view name;
  int64_t version = -1;
};
CallName SplitCallName(std::string_view full);

}  // namespace tacho::nsys
