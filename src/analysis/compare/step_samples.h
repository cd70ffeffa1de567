#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/compare/compared_ranks.h"

namespace tacho {

// One step on one device (a row of StepProfile), as a sample for the bootstrap.
struct StepSample {
  // Its block: consecutive steps of a run on all ranks, which the bootstrap draws together.
  uint32_t block = 0;
  StepBatch batch;
  double size = 0;         // of the batch; 0 if the step does not report it
  std::vector<double> ns;  // time by PartNumbers; the last entry is the whole step
};

// All steps of one phase on one side of a comparison.
struct SideSamples {
  std::vector<StepSample> samples;
  // By run: its blocks are [first_block[run], first_block[run + 1]).
  std::vector<uint32_t> first_block = {0};

  [[nodiscard]] uint32_t blocks() const { return first_block.back(); }
};

// By name of a part that any side has: its number.
using PartNumbers = std::map<std::string, uint32_t>;
// If not `idle_causes`, all idle time is one part, kAllIdle.
PartNumbers NumberParts(const SideRanks& base, const SideRanks& now, bool idle_causes);

// The steps of one phase. Consecutive steps are similar, and so are the ranks in one step. So a
// block holds n^(1/3) consecutive steps of each rank, where n is the number of steps. This makes
// n^(2/3) blocks; there are at most 100 in a run. Cost: a copy of the rows.
SideSamples SamplesOf(const SideRanks& runs, Phase phase, const PartNumbers& parts);

}  // namespace tacho
