#include "analysis/host/op_device_time.h"

#include <algorithm>
#include <optional>

#include "analysis/index/dense_index.h"
#include "analysis/index/gpu_scope.h"
#include "analysis/index/ranked_ids.h"
#include "analysis/steps/steps.h"
#include "model/nesting.h"

namespace tacho {
namespace {

// Finds an operator's node by its external id. If several operators share an id, the one that
// starts first counts. 0 means no id.
DenseIndex NodesByExternalId(const Trace& trace, const OpNodes& nodes, const RankedIds& ids) {
  const auto id_of = [&](size_t node) -> int64_t {
    if (nodes.op[node] == OpNodes::kNoOp) return -1;
    const int64_t id = trace.host_ops.external_id[nodes.op[node]];
    return id > 0 ? ids.Of(trace.host_ops.track[nodes.op[node]], id) : -1;
  };
  const auto before = [&](uint32_t a, uint32_t b) {
    const Interval x = trace.host_ops.When(a), y = trace.host_ops.When(b);
    if (x != y) return IsOuter(x, y);
    return trace.Text(trace.host_ops.name[a]) < trace.Text(trace.host_ops.name[b]);
  };
  DenseIndex index(nodes.size(), id_of);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int64_t id = id_of(i);
    if (id < 0) continue;
    uint32_t& node = index[id];
    if (node == DenseIndex::kNone || before(nodes.op[i], nodes.op[node])) {
      node = static_cast<uint32_t>(i);
    }
  }
  return index;
}

// Calls visit(row of Trace::gpu, node of the operator) for each piece of work that belongs to an
// operator.
template <typename Visit>
void ForEachWorkOfOps(const Trace& trace, const LaunchLinks& links, const OpNodes& nodes,
                      const Scope& scope, Visit visit) {
  std::optional<DenseIndex> by_external_id;  // created when first needed
  const RankedIds ids(trace);
  const GpuScope counts(trace, scope);
  for (uint32_t row = 0; row < trace.gpu.size(); ++row) {
    if (!counts.OnDevice(row)) continue;
    const uint32_t call = links.call_of_gpu[row];
    int32_t op = call == LaunchLinks::kNone ? -1 : nodes.of_call[call];
    if (op < 0) {
      if (!by_external_id) by_external_id = NodesByExternalId(trace, nodes, ids);
      const int64_t id = ids.Of(trace.gpu.track[row], trace.gpu.external_id[row]);
      op = static_cast<int32_t>(by_external_id->Find(id));
    }
    if (op >= 0) visit(row, static_cast<uint32_t>(op));
  }
}

}  // namespace

OpTree NestOps(const TrackIndex& index) {
  const Trace& trace = index.trace();
  OpTree tree;
  OpNodes& nodes = tree.nodes;
  nodes.op.reserve(trace.host_ops.size());
  nodes.parent.reserve(trace.host_ops.size());
  tree.self.reserve(trace.host_ops.size());
  nodes.of_call.assign(trace.host_calls.size(), -1);
  struct Around {
    int32_t op;      // the innermost operator
    bool is_parent;  // whether `op` is the direct parent
  };
  const std::vector<bool> training = TrainingStepNames(trace);
  WalkHostSlices(AllHostRows(index, false), Around{-1, false},
                 [&](const HostSlice& slice, Around around) {
                   const int64_t duration = slice.when.length().ns;
                   if (around.is_parent) {
                     int64_t& self = tree.self[static_cast<size_t>(around.op)];
                     self = AddSaturated(self, -duration);
                   }
                   if (slice.kind == SliceKind::kHostCall) nodes.of_call[slice.row] = around.op;
                   if (slice.kind != SliceKind::kHostOp) return Around{around.op, false};
                   if (!training.empty() && training[Index(trace.host_ops.name[slice.row])]) {
                     return Around{around.op, false};
                   }
                   nodes.op.push_back(slice.row);
                   nodes.parent.push_back(around.op);
                   tree.self.push_back(duration);
                   return Around{static_cast<int32_t>(nodes.size() - 1), true};
                 });
  return tree;
}

std::vector<std::pair<uint32_t, uint32_t>> OpsOfWork(const Trace& trace, const LaunchLinks& links,
                                                     const OpNodes& nodes, const Scope& scope) {
  std::vector<std::pair<uint32_t, uint32_t>> found;
  ForEachWorkOfOps(trace, links, nodes, scope,
                   [&](uint32_t row, uint32_t node) { found.emplace_back(row, node); });
  return found;
}

DeviceNs AttributeDeviceTime(const Trace& trace, const LaunchLinks& links, const OpNodes& nodes,
                             const Scope& scope) {
  DeviceNs time;
  time.self.assign(nodes.size(), 0);
  ForEachWorkOfOps(trace, links, nodes, scope, [&](uint32_t row, uint32_t node) {
    time.self[node] = AddSaturated(time.self[node], trace.gpu.duration[row]);
  });
  time.total = time.self;
  for (size_t i = nodes.size(); i-- > 0;) {
    const int32_t parent = nodes.parent[i];
    if (parent < 0) continue;
    int64_t& total = time.total[static_cast<size_t>(parent)];
    total = AddSaturated(total, time.total[i]);
  }
  return time;
}

void AddCall(OpRow& row, DurationNs total, int64_t self, int64_t device_total,
             int64_t device_self) {
  ++row.count;
  row.cpu_total += total;
  row.cpu_self += DurationNs{self};
  row.device_total += DurationNs{device_total};
  row.device_self += DurationNs{device_self};
}

void SortOpRows(std::vector<OpRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const OpRow& a, const OpRow& b) {
    if (a.cpu_self != b.cpu_self) return a.cpu_self > b.cpu_self;
    return a.name != b.name ? a.name < b.name : a.shapes < b.shapes;
  });
}

}  // namespace tacho
