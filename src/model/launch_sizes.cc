#include "model/launch_sizes.h"

#include <algorithm>
#include <utility>

#include "base/parse_number.h"
#include "model/args.h"

namespace tacho {
namespace {

// The first three integers in a text such as "[244, 1, 6]".
std::optional<LaunchSizes::Xyz> XyzOf(std::string_view json) {
  LaunchSizes::Xyz xyz;
  for (int32_t& number : xyz) {
    json.remove_prefix(std::min(json.size(), json.find_first_of("-0123456789")));
    const auto taken = TakeNumber<int32_t>(json);
    if (!taken) return std::nullopt;
    number = *taken;
  }
  return xyz;
}

}  // namespace

size_t LaunchSizesHash::operator()(const LaunchSizes& sizes) const {
  uint64_t hash = 0;
  const auto add = [&](int32_t a, int32_t b) {
    const auto both = uint64_t{static_cast<uint32_t>(a)} << 32 | uint64_t{static_cast<uint32_t>(b)};
    hash = (hash ^ both) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  };
  const LaunchSizes::Xyz none{-1, -1, -1};
  const LaunchSizes::Xyz grid = sizes.grid.value_or(none), block = sizes.block.value_or(none);
  add(grid[0], grid[1]);
  add(grid[2], block[0]);
  add(block[1], block[2]);
  add(sizes.registers.value_or(-1), sizes.shared_bytes.value_or(-1));
  add(sizes.static_shared_bytes.value_or(-1), sizes.dynamic_shared_bytes.value_or(-1));
  return static_cast<size_t>(hash);
}

std::optional<LaunchSizes::Xyz> XyzOf(int64_t x, int64_t y, int64_t z) {
  LaunchSizes::Xyz xyz;
  size_t i = 0;
  for (const int64_t number : {x, y, z}) {
    if (!std::in_range<int32_t>(number)) return std::nullopt;
    xyz[i++] = static_cast<int32_t>(number);
  }
  return xyz;
}

std::string XyzText(const std::optional<LaunchSizes::Xyz>& xyz) {
  if (!xyz) return {};
  return '[' + std::to_string((*xyz)[0]) + ", " + std::to_string((*xyz)[1]) + ", " +
         std::to_string((*xyz)[2]) + ']';
}

GpuArg GpuArgOf(std::string_view key) {
  static constexpr std::pair<std::string_view, GpuArg> kArgs[] = {
      {"graph id", GpuArg::kGraph},
      {"graph node id", GpuArg::kGraphNode},
      {"grid", GpuArg::kGrid},
      {"block", GpuArg::kBlock},
      {"registers per thread", GpuArg::kRegisters},
      {"shared memory", GpuArg::kShared},
      {"static shared memory", GpuArg::kStaticShared},
      {"dynamic shared memory", GpuArg::kDynamicShared}};
  for (const auto& [name, arg] : kArgs) {
    if (name == key) return arg;
  }
  return GpuArg::kNone;
}

void SetLaunchSize(GpuArg arg, std::string_view json, LaunchSizes& sizes) {
  if (arg == GpuArg::kGrid)
    sizes.grid = XyzOf(json);
  else if (arg == GpuArg::kBlock)
    sizes.block = XyzOf(json);
  else
    SetLaunchSize(arg, JsonInteger(json), sizes);
}

void SetLaunchSize(GpuArg arg, std::optional<int64_t> number, LaunchSizes& sizes) {
  std::optional<int32_t> size;
  if (number && std::in_range<int32_t>(*number)) size = static_cast<int32_t>(*number);
  switch (arg) {
    case GpuArg::kNone:
    case GpuArg::kGraph:
    case GpuArg::kGraphNode:
      return;
    case GpuArg::kGrid:
      sizes.grid.reset();
      return;
    case GpuArg::kBlock:
      sizes.block.reset();
      return;
    case GpuArg::kRegisters:
      sizes.registers = size;
      return;
    case GpuArg::kShared:
      sizes.shared_bytes = size;
      return;
    case GpuArg::kStaticShared:
      sizes.static_shared_bytes = size;
      return;
    case GpuArg::kDynamicShared:
      sizes.dynamic_shared_bytes = size;
      return;
  }
}

}  // namespace tacho
