#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tacho {

// How a kernel was launched. Numbers that the trace does not give, or that no launch can have (2^31
// or more), are absent. 64 bytes.
struct LaunchSizes {
  using Xyz = std::array<int32_t, 3>;

  std::optional<Xyz> grid, block;    // blocks, threads of a block
  std::optional<int32_t> registers;  // of each thread
  // Shared memory of each block. Kineto writes the sum, nsys the parts.
  std::optional<int32_t> shared_bytes, static_shared_bytes, dynamic_shared_bytes;

  bool operator==(const LaunchSizes&) const = default;
};
struct LaunchSizesHash {
  size_t operator()(const LaunchSizes& sizes) const;
};

// Absent if x, y or z does not fit an int32.
std::optional<LaunchSizes::Xyz> XyzOf(int64_t x, int64_t y, int64_t z);
// "[4, 2, 1]"; "" if it is absent.
std::string XyzText(const std::optional<LaunchSizes::Xyz>& xyz);

// The arguments of GPU work that have columns.
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
// Sets one figure from its JSON text: three integers, or one, quoted or not. A text of another form
// makes it absent. Arguments that are no launch size change nothing.
void SetLaunchSize(GpuArg arg, std::string_view json, LaunchSizes& sizes);
void SetLaunchSize(GpuArg arg, std::optional<int64_t> number, LaunchSizes& sizes);

}  // namespace tacho
