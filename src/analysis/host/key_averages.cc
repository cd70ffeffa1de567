#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "analysis/host/op_device_time.h"
#include "analysis/host/op_flops.h"
#include "analysis/index/arg_reader.h"
#include "analysis/index/host_tree.h"
#include "analysis/index/name_index.h"
#include "base/json_text.h"

namespace tacho {
namespace {

OpNodes NodesOf(const Trace& trace, const HostTree& tree) {
  OpNodes nodes;
  nodes.of_call.assign(trace.host_calls.size(), -1);
  // By node: the node itself if it is an operator, else the operator around it.
  std::vector<int32_t> innermost(tree.nodes.size(), -1);
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

// By StringId: the name under which PyTorch sums up events of this name; kEmpty if PyTorch leaves
// them out.
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

// Removes each node that is its parent's only child and has its parent's name. The parent takes
// over the node's children and its device time. One pass is enough, because parents come before
// their children.
void MergeOnlyChildren(const std::vector<StringId>& keys, HostTree& tree, DeviceNs& device) {
  std::vector<uint32_t> children(tree.nodes.size());
  for (const HostTree::Node& node : tree.nodes) {
    if (node.parent >= 0) ++children[static_cast<size_t>(node.parent)];
  }
  // By old index: the new index of the node, or of the parent it was merged into.
  std::vector<int32_t> now(tree.nodes.size());
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

int64_t SubtractSaturated(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

// Memory that all threads allocated and released. Releases have negative sizes.
class Allocations {
 public:
  explicit Allocations(const Trace& trace) {
    const StringId memory = trace.words.strings.Find("[memory]");
    if (memory == StringId::kEmpty) return;
    const ArgReader size(trace, "Bytes"), device(trace, "Device Type");
    const auto is_cpu = [](int64_t type) { return type == 0 || type == 2 || type == 5; };
    struct Instant {
      TimeNs at;
      int64_t bytes;
      bool on_device;
    };
    std::vector<Instant> instants;
    for (size_t i = 0; i < trace.instants.size(); ++i) {
      if (trace.instants.name[i] != memory) continue;
      const ArgsOf args{trace.instants.args[i]};
      const auto bytes = size.Integer(args), type = device.Integer(args);
      sizes_known_ = sizes_known_ && bytes && type;
      instants.push_back({trace.instants.at[i], bytes.value_or(0), !is_cpu(type.value_or(0))});
    }
    std::ranges::sort(instants, {}, &Instant::at);
    for (const Instant& instant : instants) {
      at_.push_back(instant.at);
      std::vector<int64_t>& sums = instant.on_device ? device_ : cpu_;
      std::vector<int64_t>& others = instant.on_device ? cpu_ : device_;
      sums.push_back(AddSaturated(sums.back(), instant.bytes));
      others.push_back(others.back());
    }
  }

  [[nodiscard]] bool empty() const { return at_.empty(); }
  // Whether every instant tells its size and device.
  [[nodiscard]] bool sizes_known() const { return sizes_known_; }

  // The change in memory use within a slice. Both ends of the slice count as inside.
  [[nodiscard]] MemoryUse In(Interval when) const {
    const auto [first, last] = RangeOf(when);
    return Between(first, last);
  }

  // Counts and adds up the allocations and releases at moments when no slice was open on any
  // thread. Returns their number and their sum.
  [[nodiscard]] std::pair<uint64_t, MemoryUse> Lone(std::initializer_list<const HostTree*> trees,
                                                    const Scope& scope) const {
    std::vector<int64_t> change(at_.size() + 1);  // change in the number of open slices, by instant
    for (const HostTree* tree : trees) {
      for (const HostTree::Node& node : tree->nodes) {
        const auto [first, last] = RangeOf(node.when);
        ++change[first];
        --change[last];
      }
    }
    std::pair<uint64_t, MemoryUse> lone;
    int64_t open = 0;
    for (size_t i = 0; i < at_.size(); ++i) {
      open += change[i];
      if (open != 0 || !scope.Counts(at_[i])) continue;
      ++lone.first;
      AddUse(lone.second, Between(i, i + 1));
    }
    return lone;
  }

  static void AddUse(MemoryUse& to, const MemoryUse& more) {
    to.cpu_total = AddSaturated(to.cpu_total, more.cpu_total);
    to.cpu_self = AddSaturated(to.cpu_self, more.cpu_self);
    to.device_total = AddSaturated(to.device_total, more.device_total);
    to.device_self = AddSaturated(to.device_self, more.device_self);
  }

 private:
  // Sums the instants from index `first` up to but not including `last`.
  [[nodiscard]] MemoryUse Between(size_t first, size_t last) const {
    MemoryUse use;
    use.cpu_total = use.cpu_self = SubtractSaturated(cpu_[last], cpu_[first]);
    use.device_total = use.device_self = SubtractSaturated(device_[last], device_[first]);
    return use;
  }
  [[nodiscard]] std::pair<size_t, size_t> RangeOf(Interval when) const {
    const auto first = std::lower_bound(at_.begin(), at_.end(), when.start);
    const auto last = std::upper_bound(at_.begin(), at_.end(), when.end);
    return {static_cast<size_t>(first - at_.begin()),
            static_cast<size_t>(std::max(first, last) - at_.begin())};
  }

  std::vector<TimeNs> at_;  // sorted
  // Prefix sums: [i] is the sum of all instants before i.
  std::vector<int64_t> cpu_ = {0}, device_ = {0};
  bool sizes_known_ = true;
};

// The memory use of each node. Nodes with an index of `in_tree` or more are not part of the tree;
// their self memory use is 0.
std::vector<MemoryUse> MemoryOf(const Allocations& allocations, const HostTree& tree,
                                size_t in_tree) {
  std::vector<MemoryUse> use;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    use.push_back(allocations.In(tree.nodes[i].when));
    if (i >= in_tree) use[i].cpu_self = use[i].device_self = 0;
    const int32_t parent = tree.nodes[i].parent;
    if (parent < 0 || i >= in_tree) continue;
    MemoryUse& around = use[static_cast<size_t>(parent)];
    around.cpu_self = SubtractSaturated(around.cpu_self, use[i].cpu_total);
    around.device_self = SubtractSaturated(around.device_self, use[i].device_total);
  }
  return use;
}

// When the profiler stopped: at the end of the event of category "Trace". In the file, slices that
// were still open at that moment end later, when the record window ends.
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

// The host slices that belong to PyTorch's tree.
std::vector<HostRows> KeptRows(const TrackIndex& index, const std::vector<StringId>& keys,
                               const ArgReader& finished) {
  std::vector<HostRows> tables;
  ForEachNestingTable(index, true, [&](SliceKind kind, const LaneRows& lanes) {
    const SliceTable& table = lanes.table();
    std::vector<uint32_t> rows;
    std::vector<size_t> begin{0};
    rows.reserve(table.size());
    for (size_t track = 0; track < lanes.lanes(); ++track) {
      const RowList all = lanes.Of(track);
      for (size_t i = 0; i < all.size(); ++i) {
        if (keys[Index(table.name[all[i]])] == StringId::kEmpty) continue;
        if (!IsUnfinished(index.trace(), finished, table, all[i])) rows.push_back(all[i]);
      }
      begin.push_back(rows.size());
    }
    tables.emplace_back(kind, lanes, std::move(rows), begin);
  });
  return tables;
}

// The end of the innermost slice that is open on a track at a moment.
std::optional<TimeNs> EndAround(const HostTree& tree, TrackId track, TimeNs at) {
  const auto begin = tree.nodes.begin();
  const auto found = std::upper_bound(
      begin + tree.track_begin[Index(track)], begin + tree.track_begin[Index(track) + 1], at,
      [](TimeNs time, const HostTree::Node& node) { return time < node.when.start; });
  if (found == begin + tree.track_begin[Index(track)]) return std::nullopt;
  for (auto i = static_cast<int32_t>(found - begin) - 1; i >= 0;) {
    const HostTree::Node& node = tree.nodes[static_cast<size_t>(i)];
    if (at < node.when.end) return node.when.end;
    i = node.parent;
  }
  return std::nullopt;
}

// The slices that were still open when the profiler stopped, not nested. As in PyTorch
// (Result::endTimeNS), each ends with the slice around it, or else when the profiler stopped.
HostTree UnfinishedSlices(const Trace& trace, const std::vector<StringId>& keys,
                          const ArgReader& finished, const HostTree& tree) {
  HostTree beside;
  if (!finished.anywhere()) return beside;
  const std::optional<TimeNs> stop = ProfilerStop(trace);
  const auto add = [&](SliceKind kind, const SliceTable& table) {
    for (uint32_t row = 0; row < table.size(); ++row) {
      if (keys[Index(table.name[row])] == StringId::kEmpty) continue;
      if (!IsUnfinished(trace, finished, table, row)) continue;
      Interval when = table.When(row);
      const std::optional<TimeNs> around = EndAround(tree, table.track[row], when.start);
      when.end = std::max(when.start, around.value_or(stop.value_or(when.end)));
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

// Formats "Input Dims" as PyTorch's FunctionEvent does: a list of tensors becomes [], and an
// operator without arguments has no shapes.
std::string ShapesAsPyTorch(std::string_view dims) {
  std::string shapes;
  size_t depth = 0, argument = 0;  // `argument`: where the current argument's text begins
  bool is_list = false;
  for (const char c : dims) {
    if (c == '[' && ++depth == 2) {
      argument = shapes.size();
      is_list = false;
    }
    is_list = is_list || depth > 2;
    shapes += c;
    if (c == ']' && depth-- == 2 && is_list) shapes.replace(argument, std::string::npos, "[]");
  }
  return shapes == "[]" ? "" : shapes;
}

// Gives numbers to the shapes of host slices. 0: no shape.
class ShapeIndex {
 public:
  explicit ShapeIndex(const Trace& trace)
      : trace_(trace), dims_(trace, "Input Dims", "Input dims"), by_dims_{{StringId::kEmpty, 0}} {}

  uint32_t operator[](const HostTree::Node& node) {
    StringId dims = StringId::kEmpty;
    if (node.kind == SliceKind::kHostOp) dims = dims_.Text({trace_.host_ops.args[node.row]});
    if (node.kind == SliceKind::kAnnotation) dims = dims_.Text({trace_.annotations.args[node.row]});
    const auto [at, is_new] = by_dims_.try_emplace(dims, 0);
    if (is_new) {
      const std::string shapes = ShapesAsPyTorch(CompactJson(trace_.Text(dims)));
      at->second = by_text_.try_emplace(shapes, static_cast<uint32_t>(texts_.size())).first->second;
      if (at->second == texts_.size()) texts_.push_back(shapes);
    }
    return at->second;
  }
  [[nodiscard]] const std::vector<std::string>& texts() const { return texts_; }  // by number

 private:
  const Trace& trace_;
  const ArgReader dims_;
  std::unordered_map<StringId, uint32_t> by_dims_;
  std::unordered_map<std::string, uint32_t> by_text_ = {{"", 0}};
  std::vector<std::string> texts_ = {""};
};

}  // namespace

// Follows torch/autograd/profiler_util.py (2.13). PyTorch's tree differs from that of ops.h: it
// leaves out some utility operators and includes Python frames. Slices that were still open when
// the profiler stopped are not in the tree. Long: one pass over the tree.
KeyAverages AverageByKey(const TrackIndex& index, const LaunchLinks& links, const Scope& scope) {
  const Trace& trace = index.trace();
  const std::vector<StringId> keys = KeyNames(trace);
  const ArgReader finished(trace, "finished");
  HostTree tree = NestHostSlices(KeptRows(index, keys, finished));
  const HostTree beside = UnfinishedSlices(trace, keys, finished, tree);
  const Allocations allocations(trace);
  const auto [lone_allocations, lone_memory] = allocations.Lone({&tree, &beside}, scope);

  DeviceNs device = AttributeDeviceTime(trace, links, NodesOf(trace, tree), scope);
  MergeOnlyChildren(keys, tree, device);
  std::vector<int64_t> self = SelfTimes(tree);
  const size_t in_tree = tree.nodes.size();
  tree.nodes.insert(tree.nodes.end(), beside.nodes.begin(), beside.nodes.end());
  const bool with_memory = !allocations.empty() && allocations.sizes_known();
  std::vector<MemoryUse> memory;
  if (with_memory) memory = MemoryOf(allocations, tree, in_tree);
  OpFlops flops(trace);
  for (std::vector<int64_t>* figures : {&self, &device.self, &device.total}) {
    figures->resize(tree.nodes.size());  // slices beside the tree have no such times
  }

  KeyAverages averages;
  NameIndex names(trace);
  ShapeIndex shapes(trace);
  PairIndex rows, rows_by_shape;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const HostTree::Node& node = tree.nodes[i];
    if (!scope.Counts(node.when.start)) continue;
    const uint32_t name = names[keys[Index(node.name)]];
    const bool annotation = node.kind == SliceKind::kAnnotation;
    const auto add = [&](std::vector<OpRow>& to, uint32_t at, uint32_t shape) {
      if (at == to.size()) {
        OpRow& row = to.emplace_back();
        row.name = trace.Text(names.names()[name]);
        if (row.name.starts_with("ProfilerStep#")) row.name = "ProfilerStep*";
        row.shapes = shapes.texts()[shape];
        row.annotation = annotation;
      }
      AddCall(to[at], node.when.length(), self[i], device.total[i], device.self[i]);
      if (node.kind == SliceKind::kHostOp) flops.Add(node.row, to[at]);
      if (!with_memory) return;
      if (!to[at].memory) to[at].memory.emplace();
      Allocations::AddUse(*to[at].memory, memory[i]);
    };
    add(averages.rows, rows.NumberOf(name, annotation ? 1 : 0), 0);
    const uint32_t shape = shapes[node];
    add(averages.by_shape, rows_by_shape.NumberOf(2 * name + (annotation ? 1 : 0), shape), shape);
  }
  if (shapes.texts().size() == 1) averages.by_shape.clear();
  for (std::vector<OpRow>* table : {&averages.rows, &averages.by_shape}) {
    for (OpRow& row : *table) {
      row.cpu_outermost = row.cpu_total;  // PyTorch adds up nested calls too
      row.device_outermost = row.device_total;
    }
    if (lone_allocations > 0 && (table == &averages.rows || !table->empty())) {
      OpRow& row = table->emplace_back();
      row.name = "[memory]";
      row.count = lone_allocations;
      if (with_memory) row.memory = lone_memory;
    }
    SortOpRows(*table);
  }
  return averages;
}

std::vector<KeyEvent> EventsByKey(const TrackIndex& index, const LaunchLinks& links,
                                  const Scope& scope) {
  const Trace& trace = index.trace();
  const std::vector<StringId> keys = KeyNames(trace);
  HostTree tree = NestHostSlices(KeptRows(index, keys, ArgReader(trace, "finished")));
  DeviceNs device = AttributeDeviceTime(trace, links, NodesOf(trace, tree), scope);
  MergeOnlyChildren(keys, tree, device);
  const std::vector<int64_t> self = SelfTimes(tree);
  std::vector<KeyEvent> events;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const HostTree::Node& node = tree.nodes[i];
    if (scope.Counts(node.when.start))
      events.push_back({node.kind, node.row, {self[i]}, {device.self[i]}});
  }
  return events;
}

}  // namespace tacho
