#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/ranks/comm_groups.h"
#include "analysis/ranks/skew_events.h"

namespace tacho {

// The operation of a collective.
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
// `name`: the name that PyTorch gives the collective, such as "allreduce" or "_allgather_base".
CollectiveOp CollectiveOpOf(std::string_view name);

// The collectives of one operation, kind of group and size. Times are transfer only, without
// waiting: the time of the rank that came last.
struct CollectiveSize {
  CollectiveOp op = CollectiveOp::kOther;
  GroupKind group = GroupKind::kOther;
  // Number of ranks in the process group, even if not all of them have traces; 2 or more.
  int64_t ranks = 0;
  // For a reduction, the size of the tensor that is reduced. Else, the size of the data that all
  // ranks together give or get. If the ranks of an all-to-all name different sizes, the largest of
  // them.
  int64_t bytes = 0;
  size_t count = 0;
  DurationNs transfer;  // median over the collectives
  DurationNs total;     // sum over the collectives

  // Decimal GB/s, as nccl-tests define them (doc/PERFORMANCE.md). Algorithm bandwidth is `bytes` /
  // `transfer`. Bus bandwidth is that times the share of the bytes that crosses each rank's links.
  [[nodiscard]] double algorithm_bandwidth() const;
  [[nodiscard]] double bus_bandwidth() const;
};

// Groups collectives by size, sorted by total transfer time, longest first. Leaves out collectives
// of kOther, those without a process group, those of unknown or zero size or time, and those whose
// ranks name different sizes (except all-to-alls). Cost: O(p log p) for p parts of collectives.
// Memory: 32 bytes a collective; nothing if no trace has sizes.
std::vector<CollectiveSize> SizeCollectives(const std::vector<CommRank>& ranks,
                                            const MatchedCollectives& matched,
                                            const SkewEvents& events, const CommGroups& names);

}  // namespace tacho
