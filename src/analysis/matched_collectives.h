#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/classifier.h"
#include "model/rank_identity.h"
#include "model/trace.h"

namespace tacho {

// Which communication kernels of several ranks are one collective, how long each rank waited in it
// for the last, and how far the ranks' clocks are apart: a collective ends on all of its ranks at
// nearly the same time, however late some of them started it.

struct CommKernel {
  uint32_t row = 0;  // in Trace::gpu
  Interval when;
  std::optional<int64_t> sequence = {};  // of the collective in its process group
};

// The communication kernels of one device that are counted together: those of one collective in one
// process group where the trace names it, else those of one name.
struct CommSeries {
  std::string device;
  std::string key;                  // equal on all ranks that take part
  bool names_group = false;         // the key has a process group
  std::vector<CommKernel> kernels;  // by start, then end, then row
};
// Cost: O(k log k) for k communication kernels, and one pass over the device work.
std::vector<CommSeries> CollectCommunication(const Trace& trace, const Classifier& classifier);

// One rank's trace. Its times + `offset` are those of the clock that all ranks should be on.
struct CommRank {
  RankIdentity identity;
  DurationNs offset;
  std::vector<CommSeries> series;
};

// How far the clock of a rank is ahead of that of another.
struct ClockResidual {
  uint32_t rank = 0;
  uint32_t against = 0;  // the first rank that its collectives lead to, directly or through others
  DurationNs ahead;      // median of (its end - the other's) over the collectives of both
  DurationNs spread;     // median distance from it
  size_t collectives = 0;  // that it was measured with
  bool operator==(const ClockResidual&) const = default;
};

struct Collective {
  struct Part {
    uint32_t rank = 0, row = 0;
    TimeNs start;  // on the clock of the rank that the others are measured against
  };
  std::vector<Part> parts;  // by rank; two or more ranks
  size_t last = 0;          // the part that starts last, the first of equals

  // How long this part waited for the last, at least 0.
  [[nodiscard]] DurationNs Wait(const Part& part) const { return parts[last].start - part.start; }
};

struct MatchedCollectives {
  // Of fewer collectives, or when their ends agree no better, nothing is said about a clock.
  static constexpr size_t kLeastCollectives = 3;
  static constexpr DurationNs kMostSpread{50'000};

  std::vector<ClockResidual> residuals;  // by rank; none for those that others are measured against
  std::vector<Collective> collectives;
  size_t kernels = 0, unmatched = 0;  // of all ranks; those in no collective

  // The collective that a kernel is a part of, and which part; null where it is in none.
  [[nodiscard]] std::pair<const Collective*, const Collective::Part*> Find(uint32_t rank,
                                                                           uint32_t row) const;

 private:
  friend MatchedCollectives MatchCollectives(const std::vector<CommRank>& ranks);
  struct Place {
    uint32_t rank, row, collective, part;
  };
  std::vector<Place> places_;  // by rank, then row
};

// Kernels with a sequence number match those of the same number, others the n-th of the other
// ranks, where all ranks with such kernels have as many; within one engine and recording. Two ranks
// whose ends do not agree, and a collective that one rank left before another began, are no match.
//
// Cost: O(p log p) for p kernels, and O(r p) where the ranks measure each other in long chains.
MatchedCollectives MatchCollectives(const std::vector<CommRank>& ranks);

}  // namespace tacho
