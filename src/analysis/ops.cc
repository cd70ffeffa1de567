#include "analysis/ops.h"

#include <algorithm>

#include "analysis/arg_reader.h"
#include "analysis/name_index.h"
#include "analysis/op_device_time.h"
#include "analysis/op_flops.h"
#include "analysis/steps.h"
#include "model/nesting.h"

namespace tacho {
namespace {

// The tree with nothing but operators kept, 16 bytes each.
struct OpTree {
  OpNodes nodes;              // a parent is the next operator around, whatever lies between
  std::vector<int64_t> self;  // ns, by node
};

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
    bool is_parent;  // whether it is the parent itself
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

// Adds the calls of rows that lie inside no other of their row, in the order of the tree.
class Outermost {
 public:
  explicit Outermost(const HostOpTable& ops) : ops_(ops) {}

  void Add(OpRow& to, uint32_t number, uint32_t op, int64_t device_total) {
    if (number == last_.size()) last_.push_back(kNone);
    uint32_t& last = last_[number];
    const Interval when = ops_.When(op);
    if (last != kNone && ops_.track[last] == ops_.track[op]) {
      const Interval outer = ops_.When(last);
      if (when.start < outer.end && when.end <= outer.end) return;
    }
    last = op;
    to.cpu_outermost += when.length();
    to.device_outermost += DurationNs{device_total};
  }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  const HostOpTable& ops_;
  std::vector<uint32_t> last_;  // by row of the table: its last outermost call
};

}  // namespace

OpTable TabulateOps(const TrackIndex& index, const LaunchLinks& links, const Scope& scope) {
  const Trace& trace = index.trace();
  const OpTree tree = NestOps(index);
  const DeviceNs device = AttributeDeviceTime(trace, links, tree.nodes, scope);
  const ArgReader dims(trace, "Input Dims", "Input dims");
  const HostOpTable& ops = trace.host_ops;
  bool any_shape = false;
  for (size_t row = 0; dims.anywhere() && !any_shape && row < ops.size(); ++row) {
    any_shape = dims.Text({ops.args[row]}) != StringId::kEmpty;
  }
  OpTable table;
  OpFlops flops(trace);
  Outermost outermost(ops), outermost_by_shape(ops);
  NameIndex names(trace);
  PairIndex shapes_of_name;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const uint32_t row = tree.nodes.op[i];
    if (!scope.Counts(ops.start[row])) continue;
    const auto add = [&](OpRow& to) {
      AddCall(to, {ops.duration[row]}, tree.self[i], device.total[i], device.self[i]);
      flops.Add(row, to);
    };
    const uint32_t name = names[ops.name[row]];
    if (name == table.rows.size()) table.rows.emplace_back().name = trace.Text(ops.name[row]);
    add(table.rows[name]);
    outermost.Add(table.rows[name], name, row, device.total[i]);
    if (!any_shape) continue;
    const StringId shapes = dims.Text({ops.args[row]});
    const uint32_t shaped = shapes_of_name.NumberOf(name, Index(shapes));
    if (shaped == table.by_shape.size()) {
      OpRow& added = table.by_shape.emplace_back();
      added.name = trace.Text(ops.name[row]);
      added.shapes = trace.Text(shapes);
    }
    add(table.by_shape[shaped]);
    outermost_by_shape.Add(table.by_shape[shaped], shaped, row, device.total[i]);
  }
  SortOpRows(table.rows);
  SortOpRows(table.by_shape);
  return table;
}

}  // namespace tacho
