#include "analysis/ops.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <unordered_map>
#include <utility>

#include "analysis/arg_reader.h"
#include "analysis/gpu_scope.h"
#include "analysis/host_nesting.h"
#include "analysis/name_index.h"

namespace tacho {
namespace {

// Device time by node of a tree.
struct DeviceNs {
  std::vector<int64_t> self, total;
};

// For each node the innermost op that it is or lies in, -1 without one.
std::vector<int32_t> InnermostOps(const HostTree& tree) {
  std::vector<int32_t> op(tree.nodes.size(), -1);
  for (size_t i = 0; i < op.size(); ++i) {
    const HostTree::Node& node = tree.nodes[i];
    if (node.kind == SliceKind::kHostOp) {
      op[i] = static_cast<int32_t>(i);
    } else if (node.parent >= 0) {
      op[i] = op[static_cast<size_t>(node.parent)];
    }
  }
  return op;
}

std::unordered_map<int64_t, int32_t> OpsByExternalId(const Trace& trace, const HostTree& tree) {
  std::unordered_map<int64_t, int32_t> ops;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].kind != SliceKind::kHostOp) continue;
    const int64_t id = trace.host_ops.external_id[tree.nodes[i].row];
    if (id > 0) ops.emplace(id, static_cast<int32_t>(i));
  }
  return ops;
}

DeviceNs AttributeDeviceTime(const Trace& trace, const LaunchLinks& links, const HostTree& tree,
                             const Scope& scope) {
  DeviceNs time;
  time.self.assign(tree.nodes.size(), 0);
  if (trace.gpu.size() > 0) {
    const std::vector<int32_t> innermost = InnermostOps(tree);
    std::vector<int32_t> op_of_call(trace.host_calls.size(), -1);
    for (size_t i = 0; i < tree.nodes.size(); ++i) {
      if (tree.nodes[i].kind == SliceKind::kHostCall) op_of_call[tree.nodes[i].row] = innermost[i];
    }
    std::optional<std::unordered_map<int64_t, int32_t>> by_external_id;  // made when first needed
    const GpuScope counts(trace, scope);
    for (size_t row = 0; row < trace.gpu.size(); ++row) {
      if (!counts.OnDevice(row)) continue;
      const uint32_t call = links.call_of_gpu[row];
      int32_t op = call == LaunchLinks::kNone ? -1 : op_of_call[call];
      if (op < 0 && trace.gpu.external_id[row] > 0) {
        if (!by_external_id) by_external_id = OpsByExternalId(trace, tree);
        const auto found = by_external_id->find(trace.gpu.external_id[row]);
        if (found != by_external_id->end()) op = found->second;
      }
      if (op >= 0) time.self[static_cast<size_t>(op)] += trace.gpu.duration[row];
    }
  }
  time.total = time.self;
  for (size_t i = tree.nodes.size(); i-- > 0;) {  // children stand behind their parents
    const int32_t parent = tree.nodes[i].parent;
    if (parent >= 0) time.total[static_cast<size_t>(parent)] += time.total[i];
  }
  return time;
}

std::vector<int64_t> SelfTimes(const HostTree& tree) {
  std::vector<int64_t> self(tree.nodes.size());
  for (size_t i = 0; i < self.size(); ++i) {
    const int64_t duration = tree.nodes[i].when.length().ns;
    self[i] = duration;
    if (tree.nodes[i].parent >= 0) self[static_cast<size_t>(tree.nodes[i].parent)] -= duration;
  }
  return self;
}

void Add(OpRow& row, DurationNs total, int64_t self, int64_t device_total, int64_t device_self) {
  ++row.count;
  row.cpu_total += total;
  row.cpu_self += DurationNs{self};
  row.device_total += DurationNs{device_total};
  row.device_self += DurationNs{device_self};
}

void SortRows(std::vector<OpRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const OpRow& a, const OpRow& b) {
    if (a.cpu_self != b.cpu_self) return a.cpu_self > b.cpu_self;
    return a.name != b.name ? a.name < b.name : a.shapes < b.shapes;
  });
}

void TabulateByName(const Trace& trace, const HostTree& tree, const DeviceNs& device,
                    const Scope& scope, OpTable& table) {
  const std::vector<int64_t> self = SelfTimes(tree);
  const ArgReader dims(trace, "Input Dims", "Input dims");
  bool any_shape = false;
  for (size_t row = 0; dims.anywhere() && !any_shape && row < trace.host_ops.size(); ++row) {
    any_shape = dims.Text(HostOpArgs(trace, row)) != StringId::kEmpty;
  }
  NameIndex names(trace);
  std::unordered_map<uint64_t, size_t> row_of_shape;  // by name number and StringId of the shapes
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const HostTree::Node& node = tree.nodes[i];
    if (node.kind != SliceKind::kHostOp || !scope.Counts(node.when.start)) continue;
    const uint32_t number = names[node.name];
    if (number == table.rows.size()) table.rows.emplace_back().name = trace.Text(node.name);
    Add(table.rows[number], node.when.length(), self[i], device.total[i], device.self[i]);
    if (!any_shape) continue;
    const StringId shapes = dims.Text(HostOpArgs(trace, node.row));
    const auto [at, added] =
        row_of_shape.try_emplace((uint64_t{number} << 32) | Index(shapes), table.by_shape.size());
    if (added) {
      OpRow& row = table.by_shape.emplace_back();
      row.name = trace.Text(node.name);
      row.shapes = trace.Text(shapes);
    }
    Add(table.by_shape[at->second], node.when.length(), self[i], device.total[i], device.self[i]);
  }
  SortRows(table.rows);
  SortRows(table.by_shape);
}

// By StringId: the name under which PyTorch sums an event up, kEmpty when it leaves the event out.
std::vector<StringId> KeyNames(const Trace& trace) {
  std::vector<StringId> key(trace.words.strings.size());
  StringId step = StringId::kEmpty;  // stands for ProfilerStep#1, ProfilerStep#2, ...
  for (size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<StringId>(i);
    if (!trace.Text(key[i]).starts_with("ProfilerStep#")) continue;
    if (step == StringId::kEmpty) step = key[i];
    key[i] = step;
  }
  for (const char* name :
       {"[memory]", "[OutOfMemory]", "profiler::_record_function_enter",
        "profiler::_record_function_enter_new", "profiler::_record_function_exit", "aten::is_leaf",
        "aten::output_nr", "aten::_version"}) {
    key[Index(trace.words.strings.Find(name))] = StringId::kEmpty;
  }
  return key;
}

// Takes only children that have their parent's name out of the tree; the parent gets their children
// and their device time. One pass does, as parents stand before their children.
void MergeOnlyChildren(const std::vector<StringId>& keys, HostTree& tree, DeviceNs& device) {
  std::vector<uint32_t> children(tree.nodes.size());
  for (const HostTree::Node& node : tree.nodes) {
    if (node.parent >= 0) ++children[static_cast<size_t>(node.parent)];
  }
  std::vector<int32_t> now(tree.nodes.size());  // where a node, or the one it went into, stands now
  size_t kept = 0;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    HostTree::Node node = tree.nodes[i];
    if (node.parent >= 0) node.parent = now[static_cast<size_t>(node.parent)];
    const auto parent = static_cast<size_t>(node.parent);
    if (node.parent >= 0 && children[parent] == 1 &&
        keys[Index(tree.nodes[parent].name)] == keys[Index(node.name)]) {
      children[parent] = children[i];
      device.self[parent] += device.self[i];
      now[i] = node.parent;
      continue;
    }
    now[i] = static_cast<int32_t>(kept);
    tree.nodes[kept] = node;
    children[kept] = children[i];
    device.self[kept] = device.self[i];
    device.total[kept] = device.total[i];
    ++kept;
  }
  tree.nodes.resize(kept);
}

// How many allocations and releases happened while no slice was open on any thread.
uint64_t LoneAllocations(const Trace& trace, std::initializer_list<const HostTree*> trees,
                         const Scope& scope) {
  const StringId memory = trace.words.strings.Find("[memory]");
  std::vector<TimeNs> at;
  for (size_t i = 0; memory != StringId::kEmpty && i < trace.points.size(); ++i) {
    if (trace.points.name[i] == memory) at.push_back(trace.points.at[i]);
  }
  if (at.empty()) return 0;
  std::sort(at.begin(), at.end());
  std::vector<int64_t> change(at.size() + 1);  // of the number of slices that hold an instant
  for (const HostTree* tree : trees) {
    for (const HostTree::Node& node : tree->nodes) {  // both ends belong to the slice here
      const auto first = std::lower_bound(at.begin(), at.end(), node.when.start);
      const auto last = std::upper_bound(at.begin(), at.end(), node.when.end);
      ++change[static_cast<size_t>(first - at.begin())];
      --change[static_cast<size_t>(last - at.begin())];
    }
  }
  uint64_t lone = 0;
  int64_t open = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    open += change[i];
    if (open == 0 && scope.Counts(at[i])) ++lone;
  }
  return lone;
}

// When the profiler stopped, which is where PyTorch ends the slices that were open then; in the
// file they end later, with the record window.
std::optional<TimeNs> ProfilerStop(const Trace& trace) {
  const StringId session = trace.words.strings.Find("Trace");
  std::optional<TimeNs> stop;
  for (size_t row = 0; session != StringId::kEmpty && row < trace.others.size(); ++row) {
    if (trace.words[trace.others.category[row]].name != session) continue;
    stop = std::max(stop.value_or(trace.others.When(row).end), trace.others.When(row).end);
  }
  return stop;
}

bool IsUnfinished(const Trace& trace, const ArgReader& finished, const SliceTable& table,
                  uint32_t row) {
  return finished.anywhere() && trace.Text(finished.Text({table.args[row]})) == "false";
}

}  // namespace

OpTable TabulateOps(const Trace& trace, const LaunchLinks& links, const HostTree& tree,
                    const Scope& scope) {
  OpTable table;
  TabulateByName(trace, tree, AttributeDeviceTime(trace, links, tree, scope), scope, table);
  return table;
}

OpTable TabulateOps(const Trace& trace, const LaunchLinks& links, const Scope& scope) {
  return TabulateOps(trace, links, BuildHostTree(trace), scope);
}

// The rule of torch/autograd/profiler_util.py (2.13). Its tree differs from ours: some utility
// operators are not in it, and Python frames are; slices that were still open at the stop stand
// beside it.
std::vector<OpRow> AverageByKey(const Trace& trace, const LaunchLinks& links, const HostTree& host,
                                const Scope& scope) {
  const std::vector<StringId> keys = KeyNames(trace);
  const ArgReader finished(trace, "finished");
  const std::optional<TimeNs> stop = ProfilerStop(trace);
  HostTree beside;
  const auto leave_out = [&](SliceKind kind, const SliceTable& table, uint32_t row) {
    if (keys[Index(table.name[row])] == StringId::kEmpty) return true;
    if (!IsUnfinished(trace, finished, table, row)) return false;
    Interval when = table.When(row);
    when.end = std::max(when.start, stop.value_or(when.end));
    beside.nodes.push_back({.when = when,
                            .name = table.name[row],
                            .track = table.track[row],
                            .kind = kind,
                            .row = row});
    return true;
  };
  const bool same_slices =
      trace.python_frames.size() == 0 && !finished.anywhere() &&
      std::none_of(host.nodes.begin(), host.nodes.end(), [&](const HostTree::Node& node) {
        return keys[Index(node.name)] == StringId::kEmpty;
      });
  HostTree tree =
      same_slices ? host : NestHostSlices(trace, {.python_frames = true, .leave_out = leave_out});
  const uint64_t lone_allocations = LoneAllocations(trace, {&tree, &beside}, scope);

  DeviceNs device = AttributeDeviceTime(trace, links, tree, scope);
  MergeOnlyChildren(keys, tree, device);
  std::vector<int64_t> self = SelfTimes(tree);
  tree.nodes.insert(tree.nodes.end(), beside.nodes.begin(), beside.nodes.end());
  for (std::vector<int64_t>* figures : {&self, &device.self, &device.total}) {
    figures->resize(tree.nodes.size());  // slices beside the tree have none
  }

  NameIndex names(trace);
  std::vector<OpRow> by_key;  // two for each name: annotations stand apart
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const HostTree::Node& node = tree.nodes[i];
    if (!scope.Counts(node.when.start)) continue;
    const size_t at =
        2 * names[keys[Index(node.name)]] + (node.kind == SliceKind::kAnnotation ? 1 : 0);
    if (at >= by_key.size()) by_key.resize(2 * names.size());
    Add(by_key[at], node.when.length(), self[i], device.total[i], device.self[i]);
  }
  std::vector<OpRow> rows;
  for (size_t i = 0; i < by_key.size(); ++i) {
    if (by_key[i].count == 0) continue;
    const std::string_view name = trace.Text(names.names()[i / 2]);
    by_key[i].annotation = i % 2 == 1;
    by_key[i].name = name.starts_with("ProfilerStep#") ? "ProfilerStep*" : name;
    rows.push_back(std::move(by_key[i]));
  }
  if (lone_allocations > 0) {
    OpRow& memory = rows.emplace_back();
    memory.name = "[memory]";
    memory.count = lone_allocations;
  }
  SortRows(rows);
  return rows;
}

}  // namespace tacho
