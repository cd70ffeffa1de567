#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/change.h"

namespace tacho {

// How the time in collectives changed, split by RankBlame into transfer and waiting, and for whom
// the ranks waited. In ns a step, on average over all ranks and all steps of a side; without
// bounds, because it is one figure a run.
struct CollectiveChange {
  struct OfRank {
    std::string name;      // "TP3"
    SkewCause main;        // the largest cause, on the side where the ranks wait longer for it
    bool is_main = false;  // this cause is four fifths of what it caused, or more
    Change caused;         // how long others waited for it; over all ranks, like `waits`
    Change late;  // how much later than the median of the others it came, on each of its steps
  };
  Change time, transfer, waits;  // time = transfer + waits
  // The ranks that stand out on a side; largest difference first, then by name.
  std::vector<OfRank> ranks;

  // The rank that explains at least half of the change of `time`; null without one.
  [[nodiscard]] const OfRank* Explains() const;
};

// Absent if some run of either side has no steps, or has no figures, or has them for less than half
// of its communication kernels. Absent, too, if the share of kernels with figures differs between
// the sides. Cost: O(ranks).
std::optional<CollectiveChange> CompareCollectives(const std::vector<RunAnalysis>& base,
                                                   const std::vector<RunAnalysis>& now);

// "only 90 % of new's communication kernels match one of another rank", if the sides differ in this
// share; else "".
std::string WhyNoCollectives(const std::vector<RunAnalysis>& base,
                             const std::vector<RunAnalysis>& now);

}  // namespace tacho
