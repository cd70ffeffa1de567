#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "stats/stats_trace.h"

namespace tacho {

inline constexpr uint32_t kNoRange = std::numeric_limits<uint32_t>::max();

// Finds the NVTX ranges that lie around other ranges and around launches. Only ranges that begin
// and end on one thread count. Ranges are indices into StatsTrace::ranges().

// For each range the index of the tightest range around it on its thread, or kNoRange. Of equal
// ranges, each has the one before it as its parent.
std::vector<uint32_t> ParentsOf(const std::vector<NvtxRange>& ranges);

// Some GPU work that one call launched, and the ranges around the call: the innermost 10,000.
struct LaunchInRanges {
  uint32_t call = 0;                // row of host_calls; LaunchLinks::kNone: the launch is unknown
  std::vector<uint32_t> work = {};  // rows of gpu
  std::vector<uint32_t> ranges = {};
};

// Calls `use` for each launch of a kernel, or of any GPU work, in the order of threads and times.
// Work without a launch comes last, each piece by itself. A launch is valid until `use` returns.
// Returns the number of launches for which outer ranges were left out.
using LaunchUse = std::function<void(const LaunchInRanges& launch)>;
size_t ForEachLaunch(const StatsTrace& stats, bool kernels_only, const LaunchUse& use);
// Words for what a table lacks if outer ranges of `cut` launches were left out; "" if `cut` is 0.
std::string LacksRangesOf(size_t cut);

}  // namespace tacho
