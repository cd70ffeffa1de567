#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/names/classifier.h"
#include "model/rank_identity.h"
#include "model/trace.h"

namespace tacho {

// What kernels that communicate say of themselves, from which MatchCollectives finds collectives.

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

// A kernel on the clock of all ranks, its times cut to some decades.
struct RankKernel {
  uint32_t rank = 0, row = 0;
  Interval when;
  bool by_order = false;  // only its place among those of its name says which collective it is of
};
// One kernel of each device that takes part, by rank; two or more ranks.
using CommCandidate = std::vector<RankKernel>;

// What may be one collective, by what its kernels say of themselves. Those with a sequence number
// go with those of the same number, others with the n-th of the other ranks, where all ranks with
// such kernels have as many; within one engine and recording.
std::vector<CommCandidate> FindCommCandidates(const std::vector<CommRank>& ranks);

}  // namespace tacho
