#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/unequal_ranks.h"

namespace tacho {

// The traces that a comparison takes its figures from, by run of one side: those of RanksOf,
// without the ranks that are left out.
using RunRanks = std::vector<const TraceAnalysis*>;
using SideRanks = std::vector<RunRanks>;
SideRanks AllRanksOf(const std::vector<RunAnalysis>& runs);

struct ComparedRanks {
  SideRanks base, now;
  std::vector<UnequalRank> unequal;  // base first; in the order of runs, then of traces
  // No rank that was kept is on both sides, so the ranks of base are compared with other ranks.
  bool none_common = false;
};

// Decides which ranks stand for a run. Unequal ranks are left out, because their figures have
// another weight than those of whole ranks: ranks may differ in batches, kernels and lengths of
// steps. The same rank of all other runs is left out with them. Ranks are compared within one
// recording, worker and stage. If all ranks there are cut, none counts as cut. If that would leave
// a run without a rank there, only those of its ranks are left out that are unequal themselves or
// have no figures on the other side.
//
// `by_steps`: figures are of steps. If not, sums over whole recordings are compared: ranks without
// a trace on the other side are left out, and all other unequal ranks are only reported.
ComparedRanks RanksToCompare(const std::vector<RunAnalysis>& base,
                             const std::vector<RunAnalysis>& now, bool by_steps);

}  // namespace tacho
