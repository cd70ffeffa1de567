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

// Finds the NVTX ranges around other ranges and around launches. Only ranges that begin and end on
// one thread count. A range is given as its index in StatsTrace::ranges().

// For each range: the index of its parent, the shortest range around it on its thread; kNoRange if
// there is none. If several ranges have equal times, each is the parent of the next one.
std::vector<uint32_t> ParentsOf(const std::vector<NvtxRange>& ranges);

// GPU work that one call launched, and the innermost 10,000 ranges around that call.
struct LaunchInRanges {
  uint32_t call = 0;                // row of host_calls; LaunchLinks::kNone: unknown
  std::vector<uint32_t> work = {};  // rows of Trace::gpu
  std::vector<uint32_t> ranges = {};
};

// Calls `use` for each launch of a kernel (or of any GPU work), sorted by thread, then by time.
// Work whose launch call is unknown comes last, each piece as a launch of its own. A launch is
// valid until `use` returns. Returns the number of launches whose outermost ranges were left out.
using LaunchUse = std::function<void(const LaunchInRanges& launch)>;
size_t ForEachLaunch(const StatsTrace& stats, bool kernels_only, const LaunchUse& use);
// Says what a table lacks because the outermost ranges of `cut` launches were left out; "" if `cut`
// is 0.
std::string LacksRangesOf(size_t cut);

}  // namespace tacho
