#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "analysis/arg_reader.h"
#include "analysis/host_nesting.h"
#include "analysis/name_index.h"
#include "analysis/op_device_time.h"

namespace tacho {
namespace {

OpNodes NodesOf(const Trace& trace, const HostTree& tree) {
  OpNodes nodes;
  nodes.of_call.assign(trace.host_calls.size(), -1);
  std::vector<int32_t> innermost(tree.nodes.size(), -1);  // the operator that a node is or lies in
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const HostTree::Node& node = tree.nodes[i];
    const bool is_op = node.kind == SliceKind::kHostOp;
    if (is_op) {
      innermost[i] = static_cast<int32_t>(i);
    } else if (node.parent >= 0) {
      innermost[i] = innermost[static_cast<size_t>(node.parent)];
    }
    if (node.kind == SliceKind::kHostCall) nodes.of_call[node.row] = innermost[i];
    nodes.op.push_back(is_op ? node.row : OpNodes::kNoOp);
    nodes.parent.push_back(node.parent);
  }
  return nodes;
}

std::vector<int64_t> SelfTimes(const HostTree& tree) {
  std::vector<int64_t> self(tree.nodes.size());
  for (size_t i = 0; i < self.size(); ++i) {
    const int64_t duration = tree.nodes[i].when.length().ns;
    self[i] = duration;
    if (tree.nodes[i].parent < 0) continue;
    int64_t& around = self[static_cast<size_t>(tree.nodes[i].parent)];
    around = AddSaturated(around, -duration);
  }
  return self;
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
      device.self[parent] = AddSaturated(device.self[parent], device.self[i]);
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

// The slices that were still open when the profiler stopped, ended there; not nested.
HostTree UnfinishedSlices(const Trace& trace, const std::vector<StringId>& keys,
                          const ArgReader& finished) {
  HostTree beside;
  if (!finished.anywhere()) return beside;
  const std::optional<TimeNs> stop = ProfilerStop(trace);
  const auto add = [&](SliceKind kind, const SliceTable& table) {
    for (uint32_t row = 0; row < table.size(); ++row) {
      if (keys[Index(table.name[row])] == StringId::kEmpty) continue;
      if (!IsUnfinished(trace, finished, table, row)) continue;
      Interval when = table.When(row);
      when.end = std::max(when.start, stop.value_or(when.end));
      beside.nodes.push_back({.when = when,
                              .name = table.name[row],
                              .track = table.track[row],
                              .kind = kind,
                              .row = row});
    }
  };
  add(SliceKind::kPythonFrame, trace.python_frames);
  add(SliceKind::kAnnotation, trace.annotations);
  add(SliceKind::kHostOp, trace.host_ops);
  add(SliceKind::kHostCall, trace.host_calls);
  return beside;
}

}  // namespace

// The rule of torch/autograd/profiler_util.py (2.13). Its tree differs from ours: some utility
// operators are not in it, and Python frames are; slices that were still open at the stop stand
// beside it.
std::vector<OpRow> AverageByKey(const Trace& trace, const LaunchLinks& links, const Scope& scope) {
  const std::vector<StringId> keys = KeyNames(trace);
  const ArgReader finished(trace, "finished");
  const auto keep = [&](SliceKind, const SliceTable& table, uint32_t row) {
    return keys[Index(table.name[row])] != StringId::kEmpty &&
           !IsUnfinished(trace, finished, table, row);
  };
  HostTree tree = NestHostSlices(trace, CollectHostRows(trace, true, keep));
  const HostTree beside = UnfinishedSlices(trace, keys, finished);
  const uint64_t lone_allocations = LoneAllocations(trace, {&tree, &beside}, scope);

  DeviceNs device = AttributeDeviceTime(trace, links, NodesOf(trace, tree), scope);
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
    AddCall(by_key[at], node.when.length(), self[i], device.total[i], device.self[i]);
  }
  std::vector<OpRow> rows;
  for (size_t i = 0; i < by_key.size(); ++i) {
    if (by_key[i].count == 0) continue;
    const std::string_view name = trace.Text(names.names()[i / 2]);
    by_key[i].annotation = i % 2 == 1;
    by_key[i].cpu_outermost = by_key[i].cpu_total;  // PyTorch adds them all
    by_key[i].device_outermost = by_key[i].device_total;
    by_key[i].name = name.starts_with("ProfilerStep#") ? "ProfilerStep*" : name;
    rows.push_back(std::move(by_key[i]));
  }
  if (lone_allocations > 0) {
    OpRow& memory = rows.emplace_back();
    memory.name = "[memory]";
    memory.count = lone_allocations;
  }
  SortOpRows(rows);
  return rows;
}

}  // namespace tacho
