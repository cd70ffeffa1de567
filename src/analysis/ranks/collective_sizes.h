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

// Collectives of one kind and size. Bandwidths are computed from the transfer alone, without
// waiting: from the part of the rank that came last.
struct CollectiveSize {
  CollectiveOp op = CollectiveOp::kOther;
  GroupKind group = GroupKind::kOther;
  int64_t ranks = 0;  // in the process group, also if not all of them have traces; 2 or more
  // Size of all data: of the tensor that is reduced, or of what all ranks together give or get. If
  // the ranks of an all-to-all have different amounts, the largest one.
  int64_t bytes = 0;
  size_t count = 0;
  DurationNs transfer;  // median of the collectives
  DurationNs total;     // sum over the collectives

  // bytes / transfer; and this times the share of the bytes that crosses each rank's links. Both as
  // nccl-tests define them (doc/PERFORMANCE.md), in decimal GB/s.
  [[nodiscard]] double algorithm_bandwidth() const;
  [[nodiscard]] double bus_bandwidth() const;
};

// Most transfer time first. Left out are collectives without a size or process group, those of
// kOther, those without bytes or time, and those (except all-to-alls) whose ranks name different
// sizes. Cost: O(p log p) for p parts of collectives. Memory: 32 bytes a collective; nothing if no
// trace has sizes.
std::vector<CollectiveSize> SizeCollectives(const std::vector<CommRank>& ranks,
                                            const MatchedCollectives& matched,
                                            const SkewEvents& events, const CommGroups& names);

}  // namespace tacho
