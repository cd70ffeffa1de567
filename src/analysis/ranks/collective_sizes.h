#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/ranks/comm_groups.h"
#include "analysis/ranks/skew_events.h"

namespace tacho {

// What a collective does with its data.
enum class CollectiveOp : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kOther,  // a barrier, or a name that is not known
};
std::string_view CollectiveOpId(CollectiveOp op);  // "all-reduce", ...
// By the name that PyTorch gives it: "allreduce", "_allgather_base".
CollectiveOp CollectiveOpOf(std::string_view name);

// Collectives of one kind and size. A bandwidth is of their transfer alone, without waiting: of the
// part of the rank that came last.
struct CollectiveSize {
  CollectiveOp op = CollectiveOp::kOther;
  GroupKind group = GroupKind::kOther;
  int64_t ranks = 0;  // in the process group, also if not all of them have traces; 2 or more
  // Of all data: that of the tensor that is reduced, or of what all ranks give or get together. If
  // the ranks of an all-to-all have different amounts, the largest.
  int64_t bytes = 0;
  size_t count = 0;
  DurationNs transfer;  // median of the collectives
  DurationNs total;     // sum over the collectives

  // bytes / transfer, and the same times the share of it that crosses each rank's links, as
  // nccl-tests define them (doc/PERFORMANCE.md). Decimal GB/s.
  [[nodiscard]] double algorithm_bandwidth() const;
  [[nodiscard]] double bus_bandwidth() const;
};

// Most transfer time first. Left out: collectives without a size or process group, of kOther, of
// which two ranks name different sizes (unless it is an all-to-all), and without bytes or time.
// Cost: O(p log p) for p parts. Memory: 32 bytes a collective; nothing if no trace has sizes.
std::vector<CollectiveSize> SizeCollectives(const std::vector<CommRank>& ranks,
                                            const MatchedCollectives& matched,
                                            const SkewEvents& events, const CommGroups& names);

}  // namespace tacho
