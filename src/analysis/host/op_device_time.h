#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "analysis/host/ops.h"

namespace tacho {

// The operators of a host tree (and the other slices in it), parents before their children.
struct OpNodes {
  static constexpr uint32_t kNoOp = 0xffffffff;
  std::vector<uint32_t> op;      // row of Trace::host_ops; kNoOp: another kind of slice
  std::vector<int32_t> parent;   // index of a node around it, -1: none
  std::vector<int32_t> of_call;  // by row of Trace::host_calls: the innermost operator around
                                 // the call as a node, -1: none

  [[nodiscard]] size_t size() const { return op.size(); }
};

// The tree of ops.h, reduced to operators: a parent is the next operator around, whatever lies
// between. Cost: O(n); 16 bytes an operator, 4 a call.
struct OpTree {
  OpNodes nodes;
  std::vector<int64_t> self;  // ns, by node
};
OpTree NestOps(const TrackIndex& index);

// The operators that work belongs to, by the rule of ops.h: (row of Trace::gpu, node), in the order
// of the rows; work of no operator is left out.
std::vector<std::pair<uint32_t, uint32_t>> OpsOfWork(const Trace& trace, const LaunchLinks& links,
                                                     const OpNodes& nodes, const Scope& scope);

// Device time by node: of the work that an operator launched itself (`self`), and with its
// children's (`total`).
struct DeviceNs {
  std::vector<int64_t> self, total;
};
// By the rule of ops.h. Cost: O(n).
DeviceNs AttributeDeviceTime(const Trace& trace, const LaunchLinks& links, const OpNodes& nodes,
                             const Scope& scope);

// AddCall adds one call to a row; SortOpRows sorts rows in the order that ops.h promises.
void AddCall(OpRow& row, DurationNs total, int64_t self, int64_t device_total, int64_t device_self);
void SortOpRows(std::vector<OpRow>& rows);

}  // namespace tacho
