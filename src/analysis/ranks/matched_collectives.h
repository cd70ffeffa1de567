#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/ranks/comm_candidates.h"

namespace tacho {

// Which communication kernels of several ranks are one collective, how long each rank waited in it
// for the last, and how far the ranks' clocks are apart: a collective ends on all of its ranks at
// nearly the same time, however late some of them started it.

// How far the clock of a rank is ahead of another rank's.
struct ClockResidual {
  uint32_t rank = 0;
  uint32_t against = 0;  // the first rank that its collectives lead to, directly or through others
  DurationNs ahead;      // median of (its end - the other's) over the collectives of both
  DurationNs spread;     // median distance from `ahead`
  size_t collectives = 0;  // the number that it was measured with
  bool operator==(const ClockResidual&) const = default;
};

struct Collective {
  struct Part {
    uint32_t rank = 0, row = 0;
    TimeNs start;  // on the clock of the rank that the others are measured against
    DurationNs length;
  };
  std::vector<Part> parts;  // by rank; two or more ranks
  size_t last = 0;          // the part that starts last, the first of equals

  // How long this part waited for the last, at least 0.
  [[nodiscard]] DurationNs Wait(const Part& part) const { return parts[last].start - part.start; }
};

struct MatchedCollectives {
  // With fewer collectives, or if their ends agree less, nothing is said about a clock.
  static constexpr size_t kLeastCollectives = 3;
  static constexpr DurationNs kMostSpread{50'000};

  std::vector<ClockResidual> residuals;  // by rank; none for those that others are measured against
  std::vector<Collective> collectives;
  size_t kernels = 0, unmatched = 0;  // kernels of all ranks; those in no collective
  // How many collectives there would be if the clocks of all ranks agreed.
  size_t candidates = 0;

  // A kernel that is part `part` of `collectives[collective]`.
  struct Place {
    uint32_t rank, row, collective, part;
  };
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }  // by rank, then row

  // The collective that a kernel is a part of, and which part; null where it is in none.
  [[nodiscard]] std::pair<const Collective*, const Collective::Part*> Find(uint32_t rank,
                                                                           uint32_t row) const;

 private:
  friend MatchedCollectives MatchCollectives(const std::vector<CommRank>& ranks);
  std::vector<Place> places_;
};

// The candidates of FindCommCandidates whose ends agree on all ranks, and that no rank left before
// another began.
//
// Cost: O(p log p) for p kernels; O(r p) for r ranks where the ranks measure each other in long
// chains.
MatchedCollectives MatchCollectives(const std::vector<CommRank>& ranks);

}  // namespace tacho
