#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tacho {

// Estimates what profiling costs, from windows of one load with and without the profiler.

// The figure sum / count of one window, such as time / steps or tokens / time. If `count` is 0, the
// window's block is ignored.
struct WindowFigure {
  bool profiled = false;
  double sum = 0, count = 0;
};

// Windows that are compared with each other. Their order is ABBA or BAAB (A without, B with the
// profiler), so that a linear drift of the load or the machine affects both sides equally.
using OverheadBlock = std::vector<WindowFigure>;

struct OverheadEstimate {
  size_t blocks = 0;                    // number of blocks that have the figure on both sides
  double unprofiled = 0, profiled = 0;  // the figure over all windows of these blocks
  // profiled / unprofiled - 1: the geometric mean over blocks, and its bounds (95 %).
  double change = 0, low = 0, high = 0;
};

// Uses Student's t over the logarithms of profiled / unprofiled of the blocks. nullopt with fewer
// than two blocks: a single block shows no noise.
std::optional<OverheadEstimate> EstimateOverhead(std::span<const OverheadBlock> blocks);

enum class OverheadVerdict : uint8_t {
  kCost,          // the bounds exclude 0: profiling costs time
  kFaster,        // the bounds exclude 0: the profiled windows are faster
  kNoCost,        // the bounds include 0, and are as narrow as requested
  kInconclusive,  // the bounds include 0, but are wider than requested
};
std::string_view NameOf(OverheadVerdict verdict);  // "cost", "inconclusive"

// `grows`: true if a cost makes the figure larger (a time), false if it makes it smaller (a rate).
// `precision`: the requested half-width of the bounds, as a share.
OverheadVerdict VerdictOf(const OverheadEstimate& estimate, bool grows, double precision);

}  // namespace tacho
