#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// How a kernel was launched. A number is absent if the trace does not give it, or if it is too
// large for any launch (2^31 or more). 64 bytes.
struct LaunchSizes {
  using Xyz = std::array<int32_t, 3>;

  std::optional<Xyz> grid, block;    // number of blocks, number of threads in a block
  std::optional<int32_t> registers;  // for each thread
  // Shared memory of each block in bytes. Kineto gives the sum, nsys the two parts.
  std::optional<int32_t> shared_bytes, static_shared_bytes, dynamic_shared_bytes;

  bool operator==(const LaunchSizes&) const = default;
};
struct LaunchSizesHash {
  size_t operator()(const LaunchSizes& sizes) const;
};

// Absent if x, y or z does not fit an int32.
std::optional<LaunchSizes::Xyz> XyzOf(int64_t x, int64_t y, int64_t z);
// In the form "[4, 2, 1]"; "" if it is absent.
std::string XyzText(const std::optional<LaunchSizes::Xyz>& xyz);

// The arguments of GPU work that tacho stores in columns of their own.
enum class GpuArg : uint8_t {
  kNone,  // any other argument
  kGraph,
  kGraphNode,
  kGrid,
  kBlock,
  kRegisters,
  kShared,
  kStaticShared,
  kDynamicShared,
};
GpuArg GpuArgOf(std::string_view key);
// Sets the figure that `arg` stands for. `json`: three integers, or one integer, quoted or not. In
// any other form the figure becomes absent. Does nothing if `arg` is not a launch size.
void SetLaunchSize(GpuArg arg, std::string_view json, LaunchSizes& sizes);
void SetLaunchSize(GpuArg arg, std::optional<int64_t> number, LaunchSizes& sizes);

}  // namespace tacho
