#pragma once

#include <cstdint>
#include <vector>

#include "analysis/analyze.h"

namespace tacho {

// The ranks and devices of the traces that are compared (RanksOf). The files of one rank's stages
// (SGLang's by-stage profiles) count as one rank and its devices; in a merged file each rank has a
// device of its own.
struct RankCounts {
  uint64_t ranks = 0, devices = 0;
};
RankCounts CountRanks(const RunAnalysis& run);
// The same of some of its traces.
RankCounts CountRanks(const RunAnalysis& run, const std::vector<const TraceAnalysis*>& traces);

}  // namespace tacho
