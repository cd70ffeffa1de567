#pragma once

#include <map>
#include <string>
#include <vector>

#include "analysis/compare/compared_ranks.h"

namespace tacho {

// One row of a StepProfile, ready to be drawn.
struct StepSample {
  uint32_t block = 0;  // consecutive steps of a run, on all its ranks: drawn together
  StepBatch batch;
  double size = 0;         // of the batch; 0 if the step does not report it
  std::vector<double> ns;  // by part of the comparison; the last is the whole step
};

// All steps of one phase on one side of a comparison.
struct SideSamples {
  std::vector<StepSample> samples;
  // By run: its blocks are [first_block[run], first_block[run + 1]).
  std::vector<uint32_t> first_block = {0};

  [[nodiscard]] uint32_t blocks() const { return first_block.back(); }
};

// Numbers of the parts that either side has, by name.
using PartNumbers = std::map<std::string, uint32_t>;
// Without `idle_causes`, idle time is one part, whatever its cause.
PartNumbers NumberParts(const SideRanks& base, const SideRanks& now, bool idle_causes);

// Consecutive steps are alike, and so are the ranks in one step. So a block holds n^(1/3) steps of
// each rank, which makes n^(2/3) blocks, at most 100 a run. Cost: a copy of the rows.
SideSamples SamplesOf(const SideRanks& runs, Phase phase, const PartNumbers& parts);

}  // namespace tacho
