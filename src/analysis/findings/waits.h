#pragma once

#include <optional>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/findings/finding.h"

namespace tacho {

// The exposed communication of a run, split into waiting and transfer with the help of RankBlame.
//
// A wait is a part of a communication kernel's time. Not all of that time is exposed: other kernels
// may hide it, and it counts twice if two communication kernels overlap. It is unknown how much of
// the time that is not exposed was waiting, so all of it is subtracted from the waits of the rank.
// This gives a lower bound, which is exact if all communication of the rank is exposed.
struct WaitsSplit {
  struct OfRank {
    Straggler straggler;
    DurationNs cost;  // its share of the waits, in proportion to the waiting that it caused
  };
  struct OfTrace {
    size_t trace = 0;  // index into the run's traces
    DurationNs waits, transfer;
  };
  std::vector<OfRank> ranks;  // the ranks that hold the others up
  // `skew`: the waits that no rank of `ranks` caused. `transfer`: all exposed communication that is
  // not waiting.
  DurationNs skew, transfer;
  // By trace. The waits add up to those of `ranks` and `skew`, the transfers to `transfer`.
  std::vector<OfTrace> traces;
  // A part of the communication kernels' time is not exposed: see above.
  bool overlaps = false;
  // Some waits are not known: kernels have no match, a window cuts them, or ranks have no times or
  // no trace.
  bool partial = false;

  // True: the waits and the transfer are exact. False: the waits are a lower bound, the transfer is
  // an upper bound.
  [[nodiscard]] bool exact() const { return !overlaps && !partial; }
};

struct WaitsOfRun {
  // Absent if waits are not known, or if the run has nothing to split.
  std::optional<WaitsSplit> split = {};
  // Why waits are not known; kNothing if they are known or there is nothing to split.
  WhyUnknown because = WhyUnknown::kNothing;
};
// `exposed_comm`: the exposed communication of the whole run. Cost: O(ranks).
WaitsOfRun SplitWaits(const RunAnalysis& run, DurationNs exposed_comm);

}  // namespace tacho
