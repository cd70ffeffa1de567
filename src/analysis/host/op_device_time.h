#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "analysis/host/ops.h"

namespace tacho {

// Operators and other slices as nodes of a tree, parents before their children.
struct OpNodes {
  static constexpr uint32_t kNoOp = 0xffffffff;
  std::vector<uint32_t> op;     // row of Trace::host_ops; kNoOp: the node is another kind of slice
  std::vector<int32_t> parent;  // index of the node around it, -1: none
  // By row of Trace::host_calls: the node of the innermost operator around the call, -1: none.
  std::vector<int32_t> of_call;

  [[nodiscard]] size_t size() const { return op.size(); }
};

// The tree of ops.h with operators only: a node's parent is the next operator around it, even if
// other slices lie between the two. Cost: O(n); 16 bytes an operator, 4 a call.
struct OpTree {
  OpNodes nodes;
  std::vector<int64_t> self;  // self time in ns, by node
};
OpTree NestOps(const TrackIndex& index);

// The operator that each piece of GPU work belongs to, by the rule of ops.h: pairs (row of
// Trace::gpu, node), in the order of rows. Work that belongs to no operator is left out.
std::vector<std::pair<uint32_t, uint32_t>> OpsOfWork(const Trace& trace, const LaunchLinks& links,
                                                     const OpNodes& nodes, const Scope& scope);

// Device time by node, in ns. `self`: the time of the work that the operator launched itself.
// `total`: that time and the time of the work of its children.
struct DeviceNs {
  std::vector<int64_t> self, total;
};
// Follows the rule of ops.h. Cost: O(n).
DeviceNs AttributeDeviceTime(const Trace& trace, const LaunchLinks& links, const OpNodes& nodes,
                             const Scope& scope);

// AddCall adds one call to a row; SortOpRows sorts rows in the order that ops.h promises.
void AddCall(OpRow& row, DurationNs total, int64_t self, int64_t device_total, int64_t device_self);
void SortOpRows(std::vector<OpRow>& rows);

}  // namespace tacho
