#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace tacho {

// What profiling costs, from windows of one load with and without it: pure values.

// A figure of one window, as sum / count: time and steps, tokens and time. A block in which a
// window has no count does not count.
struct WindowFigure {
  bool profiled = false;
  double sum = 0, count = 0;
};

// Windows that are compared with each other only: ABBA, so that a drift of the load or the machine
// that is linear within the block weighs on both sides alike.
using OverheadBlock = std::vector<WindowFigure>;

struct OverheadEstimate {
  size_t blocks = 0;                    // that have the figure on both sides
  double unprofiled = 0, profiled = 0;  // over all windows of these blocks
  // profiled / unprofiled - 1: geometric mean over the blocks, and its bounds (95 %).
  double change = 0, low = 0, high = 0;
};

// By Student's t over the blocks' logarithms of profiled / unprofiled. nullopt below two blocks:
// one shows no noise.
std::optional<OverheadEstimate> EstimateOverhead(std::span<const OverheadBlock> blocks);

enum class OverheadVerdict : uint8_t {
  kCost,          // the bounds are on the side of a cost
  kFaster,        // on the other side
  kNoCost,        // 0 is inside, and the bounds are as narrow as was asked for
  kInconclusive,  // 0 is inside, and they are wider
};
std::string_view NameOf(OverheadVerdict verdict);  // "cost", "inconclusive"

// `grows`: the figure grows with a cost (a time; a rate falls). `precision`: the half-width that
// was asked for, as a share.
OverheadVerdict VerdictOf(const OverheadEstimate& estimate, bool grows, double precision);

}  // namespace tacho
