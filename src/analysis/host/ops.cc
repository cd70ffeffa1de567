#include "analysis/host/ops.h"

#include <algorithm>

#include "analysis/host/op_device_time.h"
#include "analysis/host/op_flops.h"
#include "analysis/index/arg_reader.h"
#include "analysis/index/name_index.h"
#include "base/json_text.h"

namespace tacho {
namespace {

// Tells whether a call is not inside another call of the same table row. The caller must ask about
// the calls in tree order.
class Outermost {
 public:
  explicit Outermost(const HostOpTable& ops) : ops_(ops) {}

  bool Is(uint32_t number, uint32_t op) {
    if (number == last_.size()) last_.push_back(kNone);
    uint32_t& last = last_[number];
    const Interval when = ops_.When(op);
    if (last != kNone && ops_.track[last] == ops_.track[op]) {
      const Interval outer = ops_.When(last);
      if (when.start < outer.end && when.end <= outer.end) return false;
    }
    last = op;
    return true;
  }

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  const HostOpTable& ops_;
  std::vector<uint32_t> last_;  // by table row: its last call that is outermost
};

// Adds the figures of an operator with one shape to those of its name, except cpu_outermost and
// device_outermost.
void AddShape(const OpRow& shape, OpRow& to) {
  if (to.count == 0) {
    to.flops = shape.flops;
  } else if (to.flops) {
    int64_t sum = 0;
    const bool fits = shape.flops && !__builtin_add_overflow(*to.flops, *shape.flops, &sum);
    to.flops = fits ? std::optional(sum) : std::nullopt;
  }
  to.count += shape.count;
  to.cpu_total += shape.cpu_total;
  to.cpu_self += shape.cpu_self;
  to.device_total += shape.device_total;
  to.device_self += shape.device_self;
}

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
  GemmCollector gemms(trace);
  Outermost outermost(ops), outermost_by_shape(ops);
  NameIndex names(trace);
  PairIndex shapes_of_name;
  std::vector<uint32_t> name_of_shape;  // number of the name, by row of table.by_shape
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const uint32_t row = tree.nodes.op[i];
    if (!scope.Counts(ops.start[row])) continue;
    const uint32_t name = names[ops.name[row]];
    if (name == table.rows.size()) table.rows.emplace_back().name = trace.Text(ops.name[row]);
    const StringId shapes = any_shape ? dims.Text({ops.args[row]}) : StringId::kEmpty;
    const uint32_t shaped = shapes_of_name.NumberOf(name, Index(shapes));
    if (shaped == table.by_shape.size()) {
      OpRow& added = table.by_shape.emplace_back();
      added.name = trace.Text(ops.name[row]);
      // Some profilers break the shapes over many lines.
      added.shapes = CompactJson(trace.Text(shapes));
      name_of_shape.push_back(name);
    }
    const DurationNs duration{ops.duration[row]};
    OpRow& of_shape = table.by_shape[shaped];
    AddCall(of_shape, duration, tree.self[i], device.total[i], device.self[i]);
    flops.Add(row, of_shape);
    gemms.Add(row, DurationNs{device.self[i]});
    if (outermost_by_shape.Is(shaped, row)) {
      of_shape.cpu_outermost += duration;
      of_shape.device_outermost += DurationNs{device.total[i]};
    }
    if (outermost.Is(name, row)) {
      table.rows[name].cpu_outermost += duration;
      table.rows[name].device_outermost += DurationNs{device.total[i]};
    }
  }
  for (size_t i = 0; i < table.by_shape.size(); ++i) {
    AddShape(table.by_shape[i], table.rows[name_of_shape[i]]);
  }
  if (!any_shape) table.by_shape.clear();
  SortOpRows(table.rows);
  SortOpRows(table.by_shape);
  table.gemms = std::move(gemms).Finish();
  return table;
}

}  // namespace tacho
