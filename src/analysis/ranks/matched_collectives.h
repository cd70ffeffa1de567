#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/ranks/comm_candidates.h"

namespace tacho {

// Finds which communication kernels of several ranks are one collective, how long each rank waited
// in it for the last one, and how far the ranks' clocks differ. This is possible because a
// collective ends on all of its ranks at nearly the same time, however late some of them started
// it.

// How far the clock of a rank is ahead of another rank's.
struct ClockResidual {
  uint32_t rank = 0;
  uint32_t against = 0;    // the other rank: the first one linked to it by a chain of collectives
  DurationNs ahead;        // the median difference of their ends, added up along the chain
  DurationNs spread;       // median distance from that median, in the last link of the chain
  size_t collectives = 0;  // number of collectives in the last link
  bool operator==(const ClockResidual&) const = default;
};

struct Collective {
  struct Part {
    uint32_t rank = 0, row = 0;
    TimeNs start;  // on the clock of rank ClockResidual::against
    DurationNs length;
  };
  std::vector<Part> parts;  // sorted by rank; two or more ranks
  size_t last = 0;          // index of the part that starts last; if several do, the first of them

  // How long this part waited for the last one; never negative.
  [[nodiscard]] DurationNs Wait(const Part& part) const { return parts[last].start - part.start; }
};

struct MatchedCollectives {
  // A clock is not measured with fewer common collectives, or with a larger spread of their ends.
  static constexpr size_t kLeastCollectives = 3;
  static constexpr DurationNs kMostSpread{50'000};

  // Sorted by rank. Ranks that others are measured against have no entry.
  std::vector<ClockResidual> residuals;
  std::vector<Collective> collectives;
  // Numbers of communication kernels: of all ranks, and of those that are in no collective.
  size_t kernels = 0, unmatched = 0;
  // How many collectives there would be if the clocks of all ranks agreed.
  size_t candidates = 0;

  // Row `row` of rank `rank` is part `part` of `collectives[collective]`.
  struct Place {
    uint32_t rank, row, collective, part;
  };
  // Sorted by rank, then row.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }

  // The collective and the part of it that this kernel is; null if it is in no collective.
  [[nodiscard]] std::pair<const Collective*, const Collective::Part*> Find(uint32_t rank,
                                                                           uint32_t row) const;

 private:
  friend MatchedCollectives MatchCollectives(const std::vector<CommRank>& ranks);
  std::vector<Place> places_;
};

// Keeps the candidates of FindCommCandidates whose ends agree on all ranks, and that no rank left
// before another one began.
//
// Cost: O(p log p) for p kernels; O(r p) for r ranks if their clocks are linked in long chains.
MatchedCollectives MatchCollectives(const std::vector<CommRank>& ranks);

}  // namespace tacho
