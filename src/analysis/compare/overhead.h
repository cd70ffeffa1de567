#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tacho {

// What profiling costs, from windows of one load with and without it: pure values.

// A figure of one window, as sum / count: time / steps, or tokens / time. A block is ignored if one
// of its windows has no count.
struct WindowFigure {
  bool profiled = false;
  double sum = 0, count = 0;
};

// Windows that are compared only with each other: in the order ABBA, so that a drift of the load or
// the machine that is linear within the block affects both sides equally.
using OverheadBlock = std::vector<WindowFigure>;

struct OverheadEstimate {
  size_t blocks = 0;                    // blocks that have the figure on both sides
  double unprofiled = 0, profiled = 0;  // over all windows of these blocks
  // profiled / unprofiled - 1: geometric mean over the blocks, and its bounds (95 %).
  double change = 0, low = 0, high = 0;
};

// Uses Student's t over the logarithms of profiled / unprofiled of the blocks. nullopt with fewer
// than two blocks: a single block shows no noise.
std::optional<OverheadEstimate> EstimateOverhead(std::span<const OverheadBlock> blocks);

enum class OverheadVerdict : uint8_t {
  kCost,          // 0 is outside the bounds, on the side of a cost
  kFaster,        // 0 is outside the bounds, on the other side
  kNoCost,        // 0 is inside the bounds, which are as narrow as requested
  kInconclusive,  // 0 is inside the bounds, which are wider than requested
};
std::string_view NameOf(OverheadVerdict verdict);  // "cost", "inconclusive"

// `grows`: the figure grows with a cost, as a time does; a rate falls. `precision`: the requested
// half-width, as a share.
OverheadVerdict VerdictOf(const OverheadEstimate& estimate, bool grows, double precision);

}  // namespace tacho
