#include "analysis/device_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/gpu_scope.h"
#include "analysis/missing_work.h"
#include "analysis/stream_rows.h"
#include "model/nesting.h"

namespace tacho {
namespace {

// Asks the classifier once for each name.
class CategoryOfName {
 public:
  CategoryOfName(const Trace& trace, const Classifier& classifier, bool operators)
      : trace_(trace),
        classifier_(classifier),
        operators_(operators),
        known_(trace.words.strings.size(), kAsk) {}

  WorkCategory operator[](StringId name) {
    uint32_t& known = known_[Index(name)];
    if (known == kAsk) {
      const std::string_view text = trace_.Text(name);
      known = operators_ ? classifier_.OfOperator(text) : classifier_.OfKernel(text);
    }
    return static_cast<WorkCategory>(known);
  }

 private:
  static constexpr uint32_t kAsk = 0xffffffff;
  const Trace& trace_;
  const Classifier& classifier_;
  bool operators_;
  std::vector<uint32_t> known_;  // by StringId
};

// Distinct ids of a kind, in the order of IdLess.
class SortedIds {
 public:
  void Add(std::string_view id) { ids_.emplace_back(id); }
  void Sort() {
    std::ranges::sort(ids_, IdLess);
    ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
  }
  [[nodiscard]] uint32_t IndexOf(std::string_view id) const {
    return static_cast<uint32_t>(std::ranges::lower_bound(ids_, id, IdLess) - ids_.begin());
  }
  [[nodiscard]] const std::vector<std::string>& ids() const { return ids_; }

 private:
  std::vector<std::string> ids_;
};

bool Before(const WorkItem& a, const WorkItem& b) {
  if (a.when.start != b.when.start) return a.when.start < b.when.start;
  if (a.when.end != b.when.end) return a.when.end < b.when.end;
  return a.row < b.row;
}

void SortItems(std::vector<WorkItem>& items) {
  if (!std::ranges::is_sorted(items, Before)) std::ranges::sort(items, Before);
}

// By WorkCategory.
std::vector<WorkKind> KindsOfCategories(const Classifier& classifier) {
  std::vector<WorkKind> kinds;
  for (size_t i = 0; i < classifier.categories().size(); ++i) {
    kinds.push_back(classifier.IsCommunication(static_cast<WorkCategory>(i))
                        ? WorkKind::kCommunication
                        : WorkKind::kCompute);
  }
  return kinds;
}

std::vector<DeviceItems> CollectGpuItems(const TrackIndex& index, const Classifier& classifier,
                                         const Scope& scope) {
  const Trace& trace = index.trace();
  const GpuTable& gpu = trace.gpu;
  const std::vector<Stream>& streams = trace.words.streams();
  // The devices and streams that the trace has, whatever part of them the window holds.
  SortedIds devices;
  struct OfDevice {
    SortedIds ids;
    std::vector<size_t> streams;
  };
  std::map<std::string_view, OfDevice> streams_of;
  for (size_t i = 0; i < streams.size(); ++i) {
    const std::string_view device = trace.Text(streams[i].device);
    if (index.gpu().Of(i).empty() || (!scope.device.empty() && device != scope.device)) continue;
    devices.Add(device);
    OfDevice& of_device = streams_of[device];
    of_device.ids.Add(trace.Text(streams[i].stream));
    of_device.streams.push_back(i);
  }
  devices.Sort();

  CategoryOfName categories(trace, classifier, false);
  const std::vector<WorkKind> kinds = KindsOfCategories(classifier);
  std::vector<DeviceItems> result;
  for (const std::string& device : devices.ids()) {
    SortedIds& ids = streams_of[device].ids;
    ids.Sort();
    DeviceItems& collected = result.emplace_back();
    collected.device = device;
    collected.streams = ids.ids();
    std::vector<StreamRows> sorted;
    size_t count = 0;
    for (const size_t i : streams_of[device].streams) {
      sorted.emplace_back(index.gpu(), i, ids.IndexOf(trace.Text(streams[i].stream)));
      count += index.gpu().Of(i).size();
    }
    collected.items.reserve(count);
    TimeNs& end = collected.extent.end;
    MergeStreams(sorted, [&](const StreamRows& next) {
      if (!Touches(scope, next.when())) return;
      end = collected.items.empty() ? next.when().end : std::max(end, next.when().end);
      const uint32_t row = next.row();
      const SliceKind kind = gpu.kind[row];
      const bool is_kernel = kind == SliceKind::kKernel;
      const WorkCategory category =
          is_kernel ? categories[gpu.name[row]] : Classifier::kUnclassified;
      collected.items.push_back({.when = next.when(),
                                 .name = gpu.name[row],
                                 .row = row,
                                 .stream = next.number(),
                                 .category = category,
                                 .kind = is_kernel                    ? kinds[category]
                                         : kind == SliceKind::kMemcpy ? WorkKind::kCopy
                                                                      : WorkKind::kMemset});
    });
    if (!collected.items.empty()) collected.extent.start = collected.items.front().when.start;
  }
  return result;
}

bool IsBookkeeping(const Classifier& classifier, WorkCategory category) {
  return classifier.categories()[category].starts_with("bookkeeping");
}

// The operators that are work on their own, by row of Trace::host_ops; see device_work.h.
std::vector<bool> FindLeafOperators(const TrackIndex& index, CategoryOfName& categories,
                                    const Classifier& classifier) {
  const HostOpTable& ops = index.trace().host_ops;
  constexpr uint32_t kNone = 0xffffffff;
  std::vector<uint32_t> parent(ops.size(), kNone);
  std::vector<bool> work_inside(ops.size(), false);
  std::vector<HostRows> tables;
  tables.emplace_back(SliceKind::kHostOp, index.host_ops());
  WalkHostSlices(tables, kNone, [&](const HostSlice& op, uint32_t around) {
    parent[op.row] = around;
    if (IsBookkeeping(classifier, categories[ops.name[op.row]])) return op.row;
    for (uint32_t up = around; up != kNone && !work_inside[up]; up = parent[up]) {
      work_inside[up] = true;
    }
    return op.row;
  });
  std::vector<bool> leaf(ops.size(), false);
  for (uint32_t row = 0; row < ops.size(); ++row) {
    leaf[row] = !work_inside[row] && (parent[row] == kNone || work_inside[parent[row]]);
  }
  return leaf;
}

// The executing thread of each process in which operators do work, by process.
std::map<ProcessId, TrackId> FindExecutors(const Trace& trace, const std::vector<bool>& leaf,
                                           CategoryOfName& categories,
                                           const Classifier& classifier) {
  const HostOpTable& ops = trace.host_ops;
  std::vector<int64_t> time_of_track(trace.words.tracks().size(), 0);
  std::vector<bool> works(trace.words.tracks().size(), false);
  for (size_t row = 0; row < ops.size(); ++row) {
    if (!leaf[row]) continue;
    const size_t track = Index(ops.track[row]);
    time_of_track[track] += ops.duration[row];
    if (!IsBookkeeping(classifier, categories[ops.name[row]])) works[track] = true;
  }
  // Of equals the smallest id wins, so that the order of the file does not matter.
  const auto longer = [&](TrackId a, TrackId b) {
    const int64_t x = time_of_track[Index(a)], y = time_of_track[Index(b)];
    return x != y ? x > y : IdLess(trace.Text(trace.words[a].tid), trace.Text(trace.words[b].tid));
  };
  std::map<ProcessId, TrackId> executors;
  for (size_t i = 0; i < time_of_track.size(); ++i) {
    if (!works[i]) continue;
    const auto track = static_cast<TrackId>(i);
    const auto [at, added] = executors.try_emplace(trace.words[track].process, track);
    if (!added && longer(track, at->second)) at->second = track;
  }
  return executors;
}

// Rows that may be work of one process of a CPU engine.
struct ProcessRows {
  std::vector<uint32_t> leaf_ops;  // of its executing thread
  std::vector<uint32_t> comms;     // annotations of collectives on its other threads
};

std::map<ProcessId, ProcessRows> RowsByProcess(const Trace& trace, const Classifier& classifier,
                                               CategoryOfName& categories,
                                               const std::vector<bool>& leaf,
                                               const std::map<ProcessId, TrackId>& executors) {
  std::map<ProcessId, ProcessRows> rows;
  std::vector<ProcessRows*> of_track(trace.words.tracks().size(), nullptr);
  std::vector<bool> executes(of_track.size(), false);
  for (size_t i = 0; i < of_track.size(); ++i) {
    const ProcessId process = trace.words.tracks()[i].process;
    const auto executor = executors.find(process);
    if (executor == executors.end()) continue;
    of_track[i] = &rows[process];
    executes[i] = Index(executor->second) == i;
  }
  for (uint32_t row = 0; row < trace.host_ops.size(); ++row) {
    const size_t track = Index(trace.host_ops.track[row]);
    if (leaf[row] && executes[track]) of_track[track]->leaf_ops.push_back(row);
  }
  for (uint32_t row = 0; row < trace.annotations.size(); ++row) {
    const size_t track = Index(trace.annotations.track[row]);
    if (of_track[track] == nullptr || executes[track]) continue;
    if (classifier.IsCommunication(categories[trace.annotations.name[row]])) {
      of_track[track]->comms.push_back(row);
    }
  }
  return rows;
}

// The device of one process of a CPU engine.
DeviceItems CollectProcess(const Trace& trace, const Classifier& classifier, const Scope& scope,
                           CategoryOfName& categories, const ProcessRows& rows, TrackId executor) {
  const HostOpTable& ops = trace.host_ops;
  const SliceTable& annotations = trace.annotations;
  DeviceItems device;
  device.executor = executor;
  std::vector<TrackId> tracks;  // of the items, for their streams
  const auto add = [&](const SliceTable& table, size_t row, size_t first_row) {
    const WorkCategory category = categories[table.name[row]];
    device.items.push_back({.when = table.When(row),
                            .name = table.name[row],
                            .row = static_cast<uint32_t>(first_row + row),
                            .stream = Index(table.track[row]),
                            .category = category,
                            .kind = classifier.IsCommunication(category) ? WorkKind::kCommunication
                                                                         : WorkKind::kCompute});
  };
  for (const uint32_t row : rows.leaf_ops) add(ops, row, 0);
  for (const uint32_t row : rows.comms) add(annotations, row, ops.size());

  SortedIds streams;
  const auto stream_id = [&](uint32_t track) {
    return trace.Text(trace.words[static_cast<TrackId>(track)].tid);
  };
  for (const WorkItem& item : device.items) {
    if (tracks.empty() || Index(tracks.back()) != item.stream) {
      tracks.push_back(static_cast<TrackId>(item.stream));
    }
  }
  std::ranges::sort(tracks);
  tracks.erase(std::unique(tracks.begin(), tracks.end()), tracks.end());
  for (const TrackId track : tracks) streams.Add(stream_id(Index(track)));
  streams.Sort();
  device.streams = streams.ids();
  std::erase_if(device.items, [&](const WorkItem& item) { return !Touches(scope, item.when); });
  for (WorkItem& item : device.items) item.stream = streams.IndexOf(stream_id(item.stream));
  SortItems(device.items);
  if (!device.items.empty()) {
    device.extent = device.items.front().when;
    for (const WorkItem& item : device.items) {
      device.extent.end = std::max(device.extent.end, item.when.end);
    }
  }
  return device;
}

// The work of a CPU engine; not on_host and without devices when no operator does any.
DeviceWork CollectHostWork(const TrackIndex& index, const Classifier& classifier,
                           const Scope& scope) {
  const Trace& trace = index.trace();
  CategoryOfName categories(trace, classifier, true);
  const std::vector<bool> leaf = FindLeafOperators(index, categories, classifier);
  const std::map<ProcessId, TrackId> executors = FindExecutors(trace, leaf, categories, classifier);
  const std::map<ProcessId, ProcessRows> rows =
      RowsByProcess(trace, classifier, categories, leaf, executors);
  DeviceWork work;
  work.on_host = !executors.empty();
  for (const auto& [process, executor] : executors) {
    const std::string id =
        executors.size() == 1 ? "cpu" : std::string(trace.Text(trace.words[process].id));
    if (!scope.device.empty() && scope.device != id) continue;
    work.devices.push_back(
        CollectProcess(trace, classifier, scope, categories, rows.at(process), executor));
    work.devices.back().device = id;
  }
  std::ranges::sort(work.devices, IdLess, &DeviceItems::device);
  return work;
}

}  // namespace

std::string_view WorkKindName(WorkKind kind) {
  static constexpr std::array<std::string_view, kWorkKinds> kNames{"compute", "communication",
                                                                   "copy", "memset"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<std::string> KindNames(size_t mask) {
  std::vector<std::string> names;
  for (size_t bit = 0; bit < kWorkKinds; ++bit) {
    if ((mask >> bit & 1) != 0) names.emplace_back(WorkKindName(static_cast<WorkKind>(bit)));
  }
  return names;
}

std::vector<CategoryRow> SortedCategories(std::vector<CategoryRow> rows) {
  std::erase_if(rows, [](const CategoryRow& row) { return row.count == 0 && row.total.ns == 0; });
  std::ranges::sort(rows, [](const CategoryRow& a, const CategoryRow& b) {
    return a.total != b.total ? a.total > b.total : a.category < b.category;
  });
  return rows;
}

bool Touches(const Scope& scope, Interval when) {
  if (!scope.window) return true;
  return scope.window->contains(when.start) || !when.Clip(*scope.window).empty();
}

DeviceWork CollectDeviceWork(const TrackIndex& index, const Classifier& classifier,
                             const Scope& scope) {
  const Trace& trace = index.trace();
  DeviceWork work;
  if (MayBeHostEngine(WorkOf(trace), trace)) {
    work = CollectHostWork(index, classifier, scope);
  } else {
    work.devices = CollectGpuItems(index, classifier, scope);
  }
  work.categories = classifier.categories();
  return work;
}

}  // namespace tacho
