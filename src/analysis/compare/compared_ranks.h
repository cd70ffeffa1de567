#pragma once

#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/unequal_ranks.h"

namespace tacho {

// The traces of one run from which a comparison takes its figures: those of RanksOf, without the
// ranks that are left out. SideRanks has them for each run of one side.
using RunRanks = std::vector<const TraceAnalysis*>;
using SideRanks = std::vector<RunRanks>;
SideRanks AllRanksOf(const std::vector<RunAnalysis>& runs);

struct ComparedRanks {
  SideRanks base, now;
  std::vector<UnequalRank> unequal;  // base's first; in the order of runs, then of traces
  // True: no rank was kept on both sides, so the ranks of base are compared with other ranks.
  bool none_common = false;
};

// Decides which ranks' figures are compared.
//
// A rank is unequal if it holds less than other ranks of the same recording, engine and stage (a
// team), such as a rank whose trace is cut off. Unequal ranks are left out, because ranks may
// differ in batches, kernels and step lengths, and the figures of unequal ranks would have too
// little weight. The same rank is left out of all other runs too. There are two exceptions. If all
// ranks of a team are cut off, none counts as cut off. If no rank of a team would be left in a run,
// only those are left out that are unequal themselves or have no figures in the other runs.
//
// `by_steps`: true if figures of steps are compared. Else sums over whole recordings are compared:
// ranks without a trace on the other side are left out, and all other unequal ranks are only
// reported.
ComparedRanks RanksToCompare(const std::vector<RunAnalysis>& base,
                             const std::vector<RunAnalysis>& now, bool by_steps);

}  // namespace tacho
