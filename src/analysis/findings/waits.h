#pragma once

#include <optional>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"

namespace tacho {

// The exposed communication of a run, split by RankBlame into waiting and transfer.
//
// A wait is time of a kernel, and a kernel may run beside others. On each rank, the time of its
// communication kernels that is not exposed (hidden, or counted twice where two of them overlap)
// may be waiting or not. So the waits of a rank count for what is left if all that time was
// waiting: a lower bound, exact for a rank whose communication is all exposed.
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
