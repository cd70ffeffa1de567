#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/names/classifier.h"
#include "model/rank_identity.h"
#include "model/trace.h"

namespace tacho {

// The communication kernels of a trace and what they say about themselves: the input of
// MatchCollectives.

struct CommKernel {
  static constexpr uint32_t kNoMessage = UINT32_MAX;
  static constexpr int64_t kNoSequence = INT64_MIN;

  uint32_t row = 0;     // in Trace::gpu
  uint32_t stream = 0;  // index into CommSeries::streams
  Interval when;
  int64_t sequence = kNoSequence;  // number of the collective in its process group
  uint32_t message = kNoMessage;   // index into CommSeries::messages
};

// How much a rank gives to a collective and gets from it.
struct CommMessage {
  int64_t in_bytes = 0, out_bytes = 0;
  int64_t ranks = 0;  // number of ranks in the process group; 0: not known
  auto operator<=>(const CommMessage&) const = default;
};

// Communication kernels of one device that do the same thing again and again, so that the n-th
// kernels on all ranks may be one collective. If the trace names process groups, a series has the
// kernels of one kind of collective ("allreduce") in one group; else the kernels of one name.
struct CommSeries {
  std::string device;
  std::string key;       // equal on all ranks that take part
  std::string name;      // of the collective ("allreduce") or, without a group, of the kernel
  std::string group;     // name of the process group; "" if the trace has none
  std::string category;  // of the first kernel in the trace: "comm.collective"
  std::vector<std::string> streams;
  std::vector<CommMessage> messages;  // distinct; empty if the trace has no sizes
  bool names_group = false;           // the key names a process group
  std::vector<CommKernel> kernels;    // sorted by start, then end, then row
};
// All series of a trace. May outlive the trace; shared by all holders.
using Communication = std::shared_ptr<const std::vector<CommSeries>>;
// Cost: O(k log k) for k communication kernels, and one pass over the device work. Memory: 40 bytes
// a kernel, and the names of each series.
Communication CollectCommunication(const Trace& trace, const Classifier& classifier);

// The communication of one rank's trace. Adding `offset` puts its times on the clock that all ranks
// should share.
struct CommRank {
  RankIdentity identity;
  DurationNs offset;
  Communication series;  // null if the rank has no communication kernels to match
};

// A communication kernel, on the clock that all ranks should share. Times are clamped to 36 years
// (2^60 ns) around 0.
struct RankKernel {
  uint32_t rank = 0, row = 0;
  Interval when;
  // The kernel has no sequence number: it was matched by its position in its series.
  bool by_order = false;
};
// One kernel of each device that takes part, sorted by rank; two or more ranks.
using CommCandidate = std::vector<RankKernel>;

// Groups the kernels of several ranks that may be one collective. The ranks of a group are of one
// engine and recording, and their series have the same key. Kernels are grouped by sequence number
// if all have one. Else the n-th kernels of all ranks are a group, provided all ranks have equally
// many kernels.
std::vector<CommCandidate> FindCommCandidates(const std::vector<CommRank>& ranks);

}  // namespace tacho
