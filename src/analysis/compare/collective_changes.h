#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/compare/change.h"

namespace tacho {

// How the time in collectives changed, split by RankBlame into transfer and waiting, and which
// ranks the others waited for. Figures are ns per step, averaged over all ranks and steps of a
// side. They have no bounds, because each run gives only one figure.
struct CollectiveChange {
  struct OfRank {
    std::string name;      // "TP3"
    SkewCause main;        // the largest cause, from the side where others wait longer for it
    bool is_main = false;  // `main` explains at least four fifths of the waiting that it caused
    Change caused;         // how long others waited for it: its part of `waits`
    Change late;           // how much later than the median of the others it came, per step
  };
  Change time, transfer, waits;  // time = transfer + waits
  // The ranks that stand out on a side, sorted by difference of `caused`, largest first, then by
  // name.
  std::vector<OfRank> ranks;

  // The rank that explains at least half of the change of `time`; null if there is no such rank.
  [[nodiscard]] const OfRank* Explains() const;
};

// nullopt if a side has no steps, if a run has no figures of RankBlame or has them for less than
// half of its communication kernels, or if that share of kernels differs between runs. Cost:
// O(ranks).
std::optional<CollectiveChange> CompareCollectives(const std::vector<RunAnalysis>& base,
                                                   const std::vector<RunAnalysis>& now);

// Such as "only 90 % of new's communication kernels match one of another rank", if this share
// differs between the sides; else "".
std::string WhyNoCollectives(const std::vector<RunAnalysis>& base,
                             const std::vector<RunAnalysis>& now);

}  // namespace tacho
