#pragma once

#include <optional>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"

namespace tacho {

// The exposed communication of a run, split by RankBlame into waiting and transfer.
//
// A wait is a part of a communication kernel, and other kernels may run beside it. So some time of
// the communication kernels of a rank is not exposed: it is hidden, or counted twice where two of
// them overlap. It is unknown how much of this time was waiting, so all of it is subtracted from
// the waits of the rank. That gives a lower bound, which is exact for a rank whose communication is
// all exposed.
struct WaitsSplit {
  struct OfRank {
    Straggler straggler;
    DurationNs cost;  // its part of the waits, in proportion to what it caused
  };
  struct OfTrace {
    size_t trace = 0;  // index into the run's traces
    DurationNs waits, transfer;
  };
  std::vector<OfRank> ranks;    // those that hold the others up
  DurationNs skew, transfer;    // all else
  std::vector<OfTrace> traces;  // waits and transfer add up to those of all
  // A part of the communication kernels is not exposed: see above.
  bool overlaps = false;
  // Not all waits are here: kernels have no match, a window cuts them, or ranks have no times or no
  // trace.
  bool partial = false;

  // The waits and the transfer are exact; else a lower and an upper bound.
  [[nodiscard]] bool exact() const { return !overlaps && !partial; }
};

struct WaitsOfRun {
  // Absent: not known, or the run has nothing to split.
  std::optional<WaitsSplit> split = {};
  // Why it is not known; kNothing if there is nothing to know.
  WhyUnknown because = WhyUnknown::kNothing;
};
// `exposed_comm`: that of the whole run. Cost: O(ranks).
WaitsOfRun SplitWaits(const RunAnalysis& run, DurationNs exposed_comm);

}  // namespace tacho
