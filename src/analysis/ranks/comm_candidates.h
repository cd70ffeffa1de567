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

// What communication kernels say about themselves: the input of MatchCollectives.

struct CommKernel {
  static constexpr uint32_t kNoMessage = UINT32_MAX;
  static constexpr int64_t kNoSequence = INT64_MIN;

  uint32_t row = 0;     // in Trace::gpu
  uint32_t stream = 0;  // index into CommSeries::streams
  Interval when;
  int64_t sequence = kNoSequence;  // number of the collective in its process group
  uint32_t message = kNoMessage;   // index into CommSeries::messages
};

// What a rank gives to a collective and gets from it.
struct CommMessage {
  int64_t in_bytes = 0, out_bytes = 0;
  int64_t ranks = 0;  // in the process group; 0: not known
  auto operator<=>(const CommMessage&) const = default;
};

// The communication kernels of one device that are numbered together. If the trace names the
// process group, they are those of one collective ("allreduce") in one group; else those of one
// kernel name.
struct CommSeries {
  std::string device;
  std::string key;       // equal on all ranks that take part
  std::string name;      // of the collective ("allreduce"), else of the kernel
  std::string group;     // name of the process group; "" if the trace has none
  std::string category;  // of the first kernel in the trace: "comm.collective"
  std::vector<std::string> streams;
  std::vector<CommMessage> messages;  // distinct; empty if the trace has no sizes
  bool names_group = false;           // the key has a process group
  std::vector<CommKernel> kernels;    // by start, then end, then row
};
// All series of a trace. They outlive the trace, and all holders share them.
using Communication = std::shared_ptr<const std::vector<CommSeries>>;
// Cost: O(k log k) for k communication kernels, and one pass over the device work. Memory: 40 bytes
// a kernel, and the names of each series.
Communication CollectCommunication(const Trace& trace, const Classifier& classifier);

// One rank's trace. Its times + `offset` are on the clock that all ranks should share.
struct CommRank {
  RankIdentity identity;
  DurationNs offset;
  Communication series;  // null: none
};

// A kernel on the clock of all ranks. Its times are clamped to 36 years (2^60 ns) around 0.
struct RankKernel {
  uint32_t rank = 0, row = 0;
  Interval when;
  // Only the order among kernels of its name says which collective it is part of.
  bool by_order = false;
};
// One kernel of each device that takes part, by rank; two or more ranks.
using CommCandidate = std::vector<RankKernel>;

// Groups kernels of several ranks that may belong to one collective: by sequence number if all have
// one, else the n-th of each rank, provided all ranks have equally many; within one engine and
// recording.
std::vector<CommCandidate> FindCommCandidates(const std::vector<CommRank>& ranks);

}  // namespace tacho
