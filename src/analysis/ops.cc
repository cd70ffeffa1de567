#include "analysis/ops.h"

#include <algorithm>

#include "analysis/arg_reader.h"
#include "analysis/host_nesting.h"
#include "analysis/name_index.h"
#include "analysis/op_device_time.h"

namespace tacho {
namespace {

// The tree with nothing but operators kept, 16 bytes each.
struct OpTree {
  OpNodes nodes;              // a parent is the next operator around, whatever lies between
  std::vector<int64_t> self;  // ns, by node
};

OpTree NestOps(const Trace& trace) {
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
  const auto tables = CollectHostRows(trace, false, [](auto&&...) { return true; });
  WalkHostSlices(tables, Around{-1, false}, [&](const HostSlice& slice, Around around) {
    const int64_t duration = slice.when.length().ns;
    if (around.is_parent) tree.self[static_cast<size_t>(around.op)] -= duration;
    if (slice.kind == SliceKind::kHostCall) nodes.of_call[slice.row] = around.op;
    if (slice.kind != SliceKind::kHostOp) return Around{around.op, false};
    nodes.op.push_back(slice.row);
    nodes.parent.push_back(around.op);
    tree.self.push_back(duration);
    return Around{static_cast<int32_t>(nodes.size() - 1), true};
  });
  return tree;
}

}  // namespace

OpTable TabulateOps(const Trace& trace, const LaunchLinks& links, const Scope& scope) {
  const OpTree tree = NestOps(trace);
  const DeviceNs device = AttributeDeviceTime(trace, links, tree.nodes, scope);
  const ArgReader dims(trace, "Input Dims", "Input dims");
  const HostOpTable& ops = trace.host_ops;
  bool any_shape = false;
  for (size_t row = 0; dims.anywhere() && !any_shape && row < ops.size(); ++row) {
    any_shape = dims.Text({ops.args[row]}) != StringId::kEmpty;
  }
  OpTable table;
  NameIndex names(trace);
  PairIndex shapes_of_name;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const uint32_t row = tree.nodes.op[i];
    if (!scope.Counts(ops.start[row])) continue;
    const auto add = [&](OpRow& to) {
      AddCall(to, {ops.duration[row]}, tree.self[i], device.total[i], device.self[i]);
    };
    const uint32_t name = names[ops.name[row]];
    if (name == table.rows.size()) table.rows.emplace_back().name = trace.Text(ops.name[row]);
    add(table.rows[name]);
    if (!any_shape) continue;
    const StringId shapes = dims.Text({ops.args[row]});
    const uint32_t shaped = shapes_of_name.NumberOf(name, Index(shapes));
    if (shaped == table.by_shape.size()) {
      OpRow& added = table.by_shape.emplace_back();
      added.name = trace.Text(ops.name[row]);
      added.shapes = trace.Text(shapes);
    }
    add(table.by_shape[shaped]);
  }
  SortOpRows(table.rows);
  SortOpRows(table.by_shape);
  return table;
}

}  // namespace tacho
