#pragma once

#include <cstdint>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// The number of ranks and devices of the traces that are compared (RanksOf). Several files of one
// rank (SGLang's by-stage profiles) count as one rank. In a merged file each device counts as a
// rank.
struct RankCounts {
  uint64_t ranks = 0, devices = 0;
};
RankCounts CountRanks(const RunAnalysis& run);
// Counts only these traces of the run.
RankCounts CountRanks(const RunAnalysis& run, const std::vector<const TraceAnalysis*>& traces);

}  // namespace tacho
